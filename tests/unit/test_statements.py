"""Statements cut closely: what a point, a sentence or a text for others gives, and what none of them may."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.capture.detectors.findings import refuted, spoken
from subconscious.capture.detectors.published import written
from subconscious.capture.draft import Draft, candidate
from subconscious.capture.exchange import Exchange
from subconscious.capture.offline import drafts
from subconscious.capture.passages import LONGEST, plain, points
from subconscious.domain.model import Origin, Role, Turn
from tests.support.scripts import Script

FAULT = "`fire()` fails because the relay of `KilnDriver` drops the first command that it is given."
ROW = "`kiln/ramp.py` | The cone of each firing is read from `glaze.toml`, never from the command line"
TABLE = f"| File | Change |\n|---|---|\n| {ROW} |\n"


def drafted(script: Script, folder: Path, source: str) -> list[Draft]:
    return [draft for draft in drafts(script.turns(folder)) if draft.source == source]


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


@given(st.text(alphabet="ab .:|-*#\n`1", max_size=400))
def test_every_cut_is_a_span_of_the_text(text: str) -> None:
    for passage in points(text):
        assert 0 <= passage.start < passage.end <= len(text)
        assert text[passage.start : passage.end].strip()


def test_what_stands_before_a_leading_sentence_is_kept(tmp_path: Path) -> None:
    script = Script().user("Make the kiln driver fire at once").says(f"{FAULT} Let me look at the driver:")
    assert any(FAULT in draft.content for draft in drafted(script, tmp_path, "point"))


@pytest.mark.parametrize("praise", ["Good review.", "Great question!", "Good point, now:"])
def test_praise_alone_is_no_part_of_a_finding(praise: str, tmp_path: Path) -> None:
    script = Script().user("Make the kiln driver fire at once").says(f"{praise} {FAULT}")
    assert {draft.quote for draft in drafted(script, tmp_path, "finding")} == {FAULT}


def test_a_fault_is_told_with_its_fix(tmp_path: Path) -> None:
    script = Script().user("Make the kiln driver fire at once").says(FAULT)
    script.says("Added `warm_up()` to `KilnDriver`, which `fire()` calls before the first command.")
    (found,) = drafted(script, tmp_path, "resolved")
    assert FAULT in found.content
    assert "Mended so: Added `warm_up()`" in found.content


@pytest.mark.parametrize(
    ("fix", "told"),
    [
        ("Added `warm_up()` to `KilnDriver`, which `fire()` calls because the relay fails without it.", True),
        ("Each relay is now given to `KilnDriver` by `fire()` so that nothing (as one that fails) is lost.", True),
        ("The fix removes `KilnDriver` from the path of `fire()`.", True),
        ("Nothing was changed in `KilnDriver` since `fire()` belongs to the vendor's library.", False),
        ("Added retries around `KilnDriver` and `fire()` did not help at all here.", False),
        ("Added retries to `KilnDriver` and `fire()`, but that does not help.", False),
        ("This returns early when `KilnDriver` is closed before `fire()` is called.", False),
        ("Using `fire()` twice before `KilnDriver` is ready breaks the whole firing.", False),
    ],
)
def test_a_fix_tells_of_a_change_that_held(fix: str, told: bool, tmp_path: Path) -> None:
    script = Script().user("Make the kiln driver fire at once").says(FAULT).says(fix)
    assert [fix in draft.content for draft in drafted(script, tmp_path, "resolved")] == [True] * told


def test_a_fix_stands_in_its_quote(tmp_path: Path) -> None:
    fix = "Added `warm_up()` to `KilnDriver`, which `fire()` calls before the first command."
    apart = Script().user("Make the kiln driver fire at once").says(FAULT).runs("cat relay.md").says(fix)
    together = Script().user("Make the kiln driver fire at once").says(f"{FAULT}\n\n{fix}")
    (first,), (second,) = (drafted(script, tmp_path, "resolved") for script in (apart, together))
    assert first.quote == fix
    assert first.turn.origin is Origin.TOOL
    assert second.quote == f"{FAULT}\n\n{fix}"
    assert all(draft.quote in draft.turn.quotable_text for draft in (first, second))


def test_what_is_taken_back_is_listed_once_an_exchange() -> None:
    """Were each later text read again for each guess, this would not end within pytest's own limit."""
    guess = "The problem is probably `KilnDriver`."
    turns = [
        Turn(f"t{at}", "s", Role.ASSISTANT, Origin.ASSISTANT, f"{guess} {at}", 0, "f", 0, 9) for at in range(20_000)
    ]
    said = spoken(Exchange(turns=[*turns, replace(turns[0], id="last", text="Actually, `KilnDriver` is innocent.")]))
    assert all(refuted(turn, turn.text, said) for turn in turns)


@pytest.mark.parametrize(
    ("one", "other", "told"),
    [
        ("Problem", "Fix", True),
        ("The problem", "The fix", True),
        ("Issue 1", "Solution", False),
        ("The API", "Changes", False),
        ("Background jobs", "Approach", False),
        ("The fix", "Notes", False),
    ],
)
def test_a_problem_is_told_where_a_heading_says_so(one: str, other: str, told: bool, tmp_path: Path) -> None:
    text = f"## {one}\n\n{FAULT}\n\n## {other}\n\nThe driver calls `warm_up()` before it sends the first command."
    found = drafted(Script().user("Make the kiln driver fire at once").says(text), tmp_path, "mended")
    assert ["Mended by: The driver calls" in draft.content for draft in found] == [True] * told


def test_three_parts_are_told_to_their_end(tmp_path: Path) -> None:
    parts = [f"The `{name}` call " + "waits " * 60 for name in ("flush", "ready", "fire")]
    text = "\n\n".join(f"## {name}\n\n{part}." for name, part in zip(("Problem", "Cause", "Fix"), parts, strict=True))
    (found,) = drafted(Script().user("hello there you").says(text), tmp_path, "mended")
    assert candidate(found, 0.5, "offline").content == found.content
    assert "Mended by: The `fire` call waits" in found.content


def test_code_is_never_told_as_a_line_of_words(tmp_path: Path) -> None:
    code = "```python\nif relay.closed:\n    relay.open()\n```"
    script = Script().user("Make the kiln driver fire at once").says(f"## Relay\n\n{FAULT}\n\n{code}\n\n{FAULT}")
    assert all("relay.open" not in draft.content for draft in drafts(script.turns(tmp_path)))


def test_a_reply_to_a_reviewer_is_quoted_from_its_command(tmp_path: Path) -> None:
    body = "Fixed in 446f931 - \\`fire()\\` waits for \\`KilnDriver.ready\\` now: the relay drops the first command."
    command = f'gh api repos/dev/kiln/pulls/7/comments/12/replies -f body="{body}"'
    (found,) = drafted(Script().user("Answer the review").runs(command), tmp_path, "published")
    assert found.content.endswith("waits for `KilnDriver.ready` now: the relay drops the first command.")
    assert found.quote in found.turn.quotable_text


BODY = "The `fire()` call waits for `KilnDriver.ready` now because the relay drops the first command."


def test_the_text_for_others_is_the_one_that_the_command_gives_them(tmp_path: Path) -> None:
    notes = f"cat > notes.md <<'EOF'\n{ROW.replace('|', 'is:')} because of the museum.\nEOF\n"
    inline = f"{notes}gh pr create --title 'Warm up' --body '{BODY}'"
    set_in = f"{notes}gh pr create --title 'Warm up' --body \"$(cat <<'EOF'\n{BODY}\nEOF\n)\""
    for command in (inline, set_in):
        found = drafted(Script().user("Ship it please").runs(command), tmp_path, "published")
        assert {draft.content for draft in found} == {f"Warm up: {BODY}"}


@pytest.mark.parametrize("refusal", ["HTTP 404", "The user doesn't want to proceed with this tool use."])
def test_what_failed_or_was_refused_was_never_published(refusal: str, tmp_path: Path) -> None:
    command = f"gh pr create --title 'Warm up' --body '{BODY}'"
    script = Script().user("Ship it please").runs(command, refusal, failed=True)
    assert not drafted(script, tmp_path, "published")
    assert drafted(script.runs(command), tmp_path, "published")


def test_openers_without_an_end_are_not_tried_one_by_one(tmp_path: Path) -> None:
    """Were each tried with each line, these would not end within pytest's own limit."""
    for shape in ("<<a\n", "gh api ", "<<a\n\n\n"):
        command = "gh pr create " + shape * 20_000 + "\n" * 60_000
        script = Script().user("Ship it please").runs(command[:3000])
        assert not drafted(script, tmp_path, "published")
        assert written(command) is None


def test_a_practice_is_told_from_a_command_that_worked(tmp_path: Path) -> None:
    reply = "gh api repos/acme/kiln/pulls/3/comments/45/replies -f body=Done"
    worked = Script().user("Answer the reviewer").runs(reply)
    failed = Script().user("Answer the reviewer").runs(reply, failed=True)
    (found,) = drafted(worked, tmp_path, "practice")
    assert "`gh api repos/acme/kiln/pulls/<number>/comments/<comment id>/replies" in found.content
    assert not drafted(failed, tmp_path, "practice")


def practised(script: Script, folder: Path) -> str:
    return "\n".join(draft.content for draft in drafted(script, folder, "practice"))


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("go test -tags=glaze ./ramp", "Tests of this project are run with a build tag: `go test -tags=glaze`."),
        ("gh pr create --title 'Warm up' --draft", "`gh pr create --draft`."),
        ("git commit -m 'fix: warm up the relay'", "begin with a type (Conventional Commits)"),
    ],
)
def test_a_habit_takes_more_than_one_run(command: str, told: str, tmp_path: Path) -> None:
    once = Script().user("Ship the ramp").runs(command)
    assert practised(once, tmp_path) == ""
    assert practised(once.runs(command, "blocked", failed=True), tmp_path) == ""
    assert told in practised(once.runs(command), tmp_path)


def test_a_changelog_belongs_to_the_commit_that_takes_it_in(tmp_path: Path) -> None:
    edit = {"file_path": "/home/dev/kiln/CHANGELOG.md", "old_string": "## 1.2.0", "new_string": "## 1.2.0\n- Warm up"}
    noted = Script().user("Warm up the relay").uses("Edit", edit).runs("git commit -m 'Mend a typo' docs.md")
    assert practised(noted, tmp_path) == ""
    taken = Script().user("Warm up the relay").uses("Edit", edit)
    taken.runs("git add ramp.py CHANGELOG.md && git commit -m 'Warm up the relay'")
    assert practised(taken, tmp_path) == (
        "Changes of this project are noted in CHANGELOG.md, in the same commit as the change."
    )
    asked = Script().user("Warm up the relay, and update the changelog").uses("Edit", edit)
    asked.runs("git add ramp.py CHANGELOG.md && git commit -m 'Warm up the relay'")
    assert practised(asked, tmp_path) == (
        "Changes of this project are noted in CHANGELOG.md on request, in the same commit as the change."
    )


def test_files_are_staged_by_name_where_other_changes_are_left_out(tmp_path: Path) -> None:
    left = "The changes of `glaze.py` are unrelated, so I'll only commit the files of this fix."
    script = Script().user("Ship the ramp").says(left).runs("git add kiln/ramp.py && git commit -m 'Warm up'")
    assert practised(script, tmp_path).startswith("Only the files modified for the current task are staged")
    unsaid = Script().user("Ship the ramp").says("Let me read the other two files.").runs("git add kiln/ramp.py")
    assert practised(unsaid, tmp_path) == ""
    denied = Script().user("Ship the ramp").says("There are no unrelated changes.").runs("git add kiln/ramp.py")
    assert practised(denied, tmp_path) == ""
    for everything in ("git add -A", "git commit -am 'All of it'", "git add kiln/ramp.py .", "git -c core.x=y add -A"):
        said = Script().user("Ship the ramp").says(left).runs("git add kiln/ramp.py").runs(everything)
        assert practised(said, tmp_path) == "", everything


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
        assert draft.quote in draft.turn.quotable_text
        assert len(draft.content) <= LONGEST
