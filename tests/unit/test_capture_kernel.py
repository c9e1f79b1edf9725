"""What of a passage is kept, and under which name."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.capture.kernel import is_passing, is_vague, kernel
from subconscious.capture.passages import passages
from tests.support.scripts import STEP, Script, found

REST = "The glaze table lives in `glaze.toml`; a wrong cone there breaks every firing."


def kept(text: str) -> str:
    return " | ".join(text[slice(*place)].strip() for place in kernel(text, 0, len(text)))


@pytest.mark.parametrize(
    "said",
    [
        "The user wants a slower ramp.",
        "Valid point.",
        "I can see the relay in the diagram.",
        "All green, and the commit succeeded.",
        "The PR #214 was reviewed twice.",
        "Added 4 new tests.",
        "- `TestRampDown` checks the cooling.",
        "1. Click Install App in the sidebar.",
        "The button has `text-xs` now.",
        "Holds `ramp: the rest was cut off.",
        "update the driver to match.",
    ],
)
def test_what_belongs_to_the_moment_is_left_out_of_a_passage(said: str) -> None:
    assert kept(f"{said}\n{REST}") == REST
    assert kept(said) == ""


@pytest.mark.parametrize(
    "said",
    [
        "`fire()` drops the first command because the relay is cold.",
        "Added a warm-up before `fire()`, since the relay drops the first command.",
        "`test_ramp.py` needs the driver's simulator.",
    ],
)
def test_what_is_so_is_kept(said: str) -> None:
    assert kept(said) == said


def test_a_sentence_goes_with_the_one_that_it_leans_on() -> None:
    assert kept(f"I see the relay in the diagram. It drops the first command. {REST}") == REST
    assert kept("The relay is cold at first. It drops the first command.").endswith("| It drops the first command.")


def test_a_line_goes_with_what_it_leads_into() -> None:
    assert kept(f"{REST}\nIn short:\nAll green.") == REST


@given(st.text(alphabet="ab `.:\n-IAtP#1", max_size=300))
def test_what_is_kept_lies_in_the_text_in_order(text: str) -> None:
    places = kernel(text, 0, len(text))
    assert places == sorted(places)
    assert all(0 <= start < end <= len(text) for start, end in places)


@pytest.mark.parametrize(
    "name", ["Key changes", "The fix is straightforward.", "What was done", "Summary of changes", "Result"]
)
def test_a_vague_name_is_put_before_nothing(name: str, tmp_path: Path) -> None:
    assert is_vague(name)
    script = Script().user("fix the kiln's first firing").says(f"{name}:\n\n{STEP}")
    (draft,) = found(script, tmp_path, "finding")
    assert name.split()[-1] not in draft.content


@pytest.mark.parametrize("name", ["Kiln driver", "Cone table", "First firing of the kiln"])
def test_a_name_that_names_something_is_none_of_them(name: str) -> None:
    assert not is_vague(name)


def test_a_plan_is_called_by_its_title_alone(tmp_path: Path) -> None:
    script = Script().user("go on").says(f"# Implementation Plan: Cold relay\n\n{STEP}")
    (draft,) = found(script, tmp_path, "finding")
    assert draft.content.startswith("Cold relay: ")


def test_advice_under_its_leading_line_is_no_finding(tmp_path: Path) -> None:
    assert is_passing("What we should add:")
    script = Script().user("fix the kiln's first firing").says(f"What we should add:\n\n- {STEP}")
    assert found(script, tmp_path, "finding") == []


def test_a_point_without_its_subject_gets_a_name_or_falls(tmp_path: Path) -> None:
    said = "- Triggers when the relay of the kiln controller is still cold after the boot"
    named = Script().user("fix the relay of the kiln").says(said)
    assert [draft.content.split(":")[0] for draft in found(named, tmp_path, "finding")] == ["fix the relay of the kiln"]
    assert found(Script().user("go on").says(said), tmp_path, "finding") == []


def test_points_are_packed_until_they_say_enough() -> None:
    point = "- " + "The relay drops commands while it is cold. " * 5
    texts = [passage.wording for passage in passages(f"{point}\n- It warms up in a second.\n")]
    assert len(texts) == 1


def test_a_failed_run_that_was_no_check_is_no_struggle(tmp_path: Path) -> None:
    script = Script().user("build the kiln").runs("make kiln", "boom", failed=True)
    script.says("The build fails because the relay header is missing.").runs("make install").runs("make kiln")
    assert not [draft for draft in found(script, tmp_path, "struggle") if "make kiln" in draft.content]
