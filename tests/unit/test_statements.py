"""Statements cut closely: what a point, a sentence or a text for others gives, and what none of them may."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.capture.draft import Draft
from subconscious.capture.impersonal import impersonal
from subconscious.capture.offline import drafts
from subconscious.capture.passages import LONGEST, plain, points
from tests.unit.test_capture_structure import Script

FAULT = "`fire()` fails because the relay of `KilnDriver` drops the first command that it is given."
ROW = "`kiln/ramp.py` | The cone of each firing is read from `glaze.toml`, never from the command line"
TABLE = f"| File | Change |\n|---|---|\n| {ROW} |\n"


def drafted(script: Script, folder: Path, source: str) -> list[Draft]:
    return [draft for draft in drafts(script.turns(folder)) if draft.source == source]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Now I need to cast `cone` to a float.", ""),
        ("The cone is a string, so I need to cast it.", "The cone is a string, so it is necessary to cast it."),
        ("Good question! The relay drops the first command.", "The relay drops the first command."),
        ("The relay is slow because we use a queue.", "The relay is slow because we use a queue."),
        ("I've added `warm_up()` to the driver.", "Added `warm_up()` to the driver."),
        ("Fixed in 446f931 - the relay waits now.", "The relay waits now."),
        ("The cone is a string, so I'll cast it.", "The cone is a string."),
        ("`cone` is read twice.", "`cone` is read twice."),
    ],
)
def test_the_speaker_is_taken_out_of_a_sentence(said: str, kept: str) -> None:
    assert impersonal(said) == kept


@pytest.mark.parametrize(
    ("markdown", "words"),
    [
        ("Every `**/*.ts` is **read** twice.", "Every `**/*.ts` is read twice."),
        ("Rules in src/**/*.mdc are __never__ read.", "Rules in src/**/*.mdc are never read."),
        ("**The relay**. It `__init__`s late.", "The relay. It `__init__`s late."),
    ],
)
def test_marks_go_and_globs_and_names_stay(markdown: str, words: str) -> None:
    assert plain(markdown) == words


@given(st.text(max_size=300))
def test_any_sentence_can_be_made_impersonal_twice(text: str) -> None:
    assert len(impersonal(impersonal(text))) <= len(impersonal(text)) + 40


@given(st.text(alphabet="ab .:|-*#\n`1", max_size=400))
def test_every_cut_is_a_span_of_the_text(text: str) -> None:
    for passage in points(text):
        assert 0 <= passage.start < passage.end <= len(text)
        assert text[passage.start : passage.end].strip()


def test_what_stands_before_a_leading_sentence_is_kept(tmp_path: Path) -> None:
    script = Script().user("Make the kiln driver fire at once").says(f"{FAULT} Let me look at the driver:")
    assert any(FAULT in draft.content for draft in drafted(script, tmp_path, "point"))


def test_a_fault_is_told_with_its_fix(tmp_path: Path) -> None:
    script = Script().user("Make the kiln driver fire at once").says(FAULT)
    script.says("Added `warm_up()` to `KilnDriver`, which `fire()` calls before the first command.")
    (found,) = drafted(script, tmp_path, "resolved")
    assert FAULT in found.content
    assert "Mended so: Added `warm_up()`" in found.content


def test_code_is_never_told_as_a_line_of_words(tmp_path: Path) -> None:
    code = "```python\nif relay.closed:\n    relay.open()\n```"
    script = Script().user("Make the kiln driver fire at once").says(f"## Relay\n\n{FAULT}\n\n{code}\n\n{FAULT}")
    assert all("relay.open" not in draft.content for draft in drafts(script.turns(tmp_path)))


def test_a_reply_to_a_reviewer_is_quoted_from_its_command(tmp_path: Path) -> None:
    body = "Fixed in 446f931 - \\`fire()\\` waits for \\`KilnDriver.ready\\` now: the relay drops the first command."
    command = f'gh api repos/dev/kiln/pulls/7/comments/12/replies -f body="{body}"'
    (found,) = drafted(Script().user("Answer the review").runs(command), tmp_path, "published")
    assert found.content.endswith("waits for `KilnDriver.ready` now: the relay drops the first command.")
    assert found.quote in found.turn.heard


def test_a_practice_is_told_from_a_command_that_worked(tmp_path: Path) -> None:
    worked = Script().user("Run the ramp test").runs("go test ./ramp/... -run TestRamp")
    failed = Script().user("Run the ramp test").runs("go test ./ramp/... -run TestRamp", failed=True)
    (found,) = drafted(worked, tmp_path, "practice")
    assert "`go test ./ramp/... -run <name>`" in found.content
    assert not drafted(failed, tmp_path, "practice")


def test_nothing_is_cut_from_what_tools_and_side_chains_say(tmp_path: Path) -> None:
    script = Script().user("Make the kiln driver fire at once").runs("cat notes.md", FAULT)
    script.says(f"## Notes\n\n{FAULT}\n\n{TABLE}", isSidechain=True)
    assert all("relay" not in draft.content for draft in drafts(script.turns(tmp_path)))


@pytest.mark.parametrize("source", ["point", "sentence", "resolved", "mended", "published"])
def test_each_cut_quotes_its_turn_and_keeps_its_length(source: str, tmp_path: Path) -> None:
    long = " ".join(
        f"The cone {number} is read from `glaze{number}.toml` because the flag is wrong." for number in range(40)
    )
    text = (
        f"## Problem\n\n{FAULT}\n\nThe second command of `KilnDriver` arrives, for the relay has closed.\n\n## Fix\n\n"
    )
    text += f"- {long}\n- Added `warm_up()` to `KilnDriver` before `fire()` sends its first command.\n\n{TABLE}"
    script = Script().user("Make the kiln driver fire at once").says(text)
    script.runs(f"gh pr create --title 'Warm up the relay' --body '{FAULT}'")
    found = drafted(script, tmp_path, source)
    assert found
    for draft in found:
        assert draft.quote
        assert draft.quote in draft.turn.heard
        assert len(draft.content) <= LONGEST
