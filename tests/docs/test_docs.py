"""The docs can't rot: every command, setting and request is documented, every documented one exists."""

from __future__ import annotations

import argparse
import os
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from cli.arguments import parser
from daemon.commands import HANDLERS
from subconscious.context.approval import GUARDED
from subconscious.context.arguments import Args
from subconscious.decay import POLICIES
from subconscious.domain.kinds import KINDS
from subconscious.domain.link_types import LINK_TYPES
from subconscious.settings.provider_table import provider_rows
from subconscious.settings.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
PROTOCOL = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def _verbs(root: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Every verb with the verbs within it, as typed."""
    for action in root._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, verb in action.choices.items():
                yield name, verb
                yield from ((f"{name} {inner}", deep) for inner, deep in _verbs(verb))


VERBS = dict(_verbs(parser()))


@pytest.mark.parametrize("verb", VERBS)
def test_every_command_is_documented(verb: str) -> None:
    first, _, second = verb.partition(" ")
    rows = [line for line in COMMANDS.splitlines() if f"`subconscious {first}" in line]
    assert rows, f"add a row for `subconscious {first}` to a table in docs/commands.md"
    if second:
        named = any(re.search(rf"[` ]{second}[` ]", row) for row in rows)
        assert named, f"name {second!r} in a row for `subconscious {first}` in docs/commands.md"


FIRST_MINUTE = (ROOT / "docs" / "first-minute.md").read_text(encoding="utf-8")
WRONG_INPUTS = re.findall(r"^\| `subconscious ([^`]+)` \| (.+) \|$", FIRST_MINUTE, re.MULTILINE)
WRONG_ROWS = {f"| `subconscious {typed}` | {told} |" for typed, told in WRONG_INPUTS}
"""Rows of the docs that show what is no command."""


def test_every_documented_command_exists() -> None:
    for page in PAGES:
        rows = page.read_text(encoding="utf-8").splitlines()
        added = page.name == "extending.md"  # its examples add a command
        text = "\n".join(row for row in rows if row not in WRONG_ROWS and not (added and row.startswith("+")))
        for words in re.findall(r"(?:^|`|/)subconscious ([a-z-]+)(?=[ `\n])", text):
            assert words in VERBS, f"{page.name}: subconscious {words}"


def test_every_verb_has_its_function() -> None:
    for name, verb in VERBS.items():
        target = verb.get_default("function")
        if target is None:
            assert name == "daemon"
            continue
        module, _, function = target.partition(":")
        assert callable(getattr(__import__(f"cli.{module}", fromlist=[function]), function))


def test_the_table_of_settings_is_that_of_the_code() -> None:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert _settings_table() in page, f"docs/settings.md must hold:\n{_settings_table()}"


def _settings_table() -> str:
    rows = [
        f"| `{name}` | `{str(field.default).lower() if isinstance(field.default, bool) else field.default}`"
        f" | {field.description} |"
        for name, field in Settings.model_fields.items()
    ]
    return "\n".join(["| setting | default | meaning |", "| --- | --- | --- |", *rows])


def test_there_are_at_most_50_settings_that_belong_to_no_provider() -> None:
    """A value that no user has a reason to change belongs into subconscious/settings/tuning.py."""
    of_providers = {f"{row.name}_{own}" for row in provider_rows().values() for own in row.settings}
    assert of_providers < set(Settings.model_fields)
    assert len(set(Settings.model_fields) - of_providers) <= 50


def _to_do(table: str, found: Sequence[Any], wanted: Sequence[Any]) -> str:
    """How to change a table so that it has the wanted rows, for the message of an assertion."""
    missing, extra = [row for row in wanted if row not in found], [row for row in found if row not in wanted]
    return f"{table}: " + (f"add {missing}, remove {extra}" if missing or extra else f"in this order: {list(wanted)}")


def test_the_policies_are_documented() -> None:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    table = page.partition("| policy | value |")[2].partition("\n\n")[0]
    rows, policies = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE), list(POLICIES)
    assert rows == policies, _to_do("docs/settings.md, table of policies", rows, policies)


def test_half_lives_are_documented() -> None:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    table = page.partition("| kind | half-life")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| `(\w+)` \| (\S+)", table, re.MULTILINE)
    kinds = [(kind.name, f"{kind.half_life:g}" if kind.half_life else "never") for kind in KINDS.values()]
    assert rows == kinds, _to_do("docs/settings.md, table of kinds", rows, kinds)


def test_the_types_of_links_are_documented() -> None:
    table = COMMANDS.partition("## Types of links")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \| (.+) \|$", table, re.MULTILINE)
    types = [(row.name, row.inverse, row.meaning) for row in LINK_TYPES.values()]
    assert rows == types, _to_do("docs/commands.md, Types of links", rows, types)


def test_the_readmes_settings_exist_with_their_defaults() -> None:
    block = README.partition("```toml")[2].partition("```")[0]
    found = re.findall(r"^(\w+) = (\S+)", block, re.MULTILINE)
    assert found
    for name, value in found:
        assert str(Settings.model_fields[name].default).lower() == value


REQUESTS = {
    name: cells[2]
    for cells in (row.split("|") for row in re.findall(r"^\| `.*", PROTOCOL.partition("## Commands")[2], re.MULTILINE))
    for name in re.findall(r"`(\w+)`", cells[1])
}
"""The arguments of each request, as docs/protocol.md describes them."""


def test_every_request_is_in_the_protocol() -> None:
    rooms = [*(ROOT / "subconscious").glob("*/*api.py"), ROOT / "daemon" / "api.py"]
    source = "\n".join(room.read_text(encoding="utf-8") for room in rooms)
    requests = set(re.findall(r"async def cmd_(\w+)", source))
    assert requests == set(REQUESTS), _to_do("docs/protocol.md, Commands", sorted(REQUESTS), sorted(requests))


def test_every_argument_is_in_the_protocol() -> None:
    """The own arguments of each class are named in the rows of the requests that take the class."""
    for arguments in {handler.arguments for handler in HANDLERS} - {Args}:
        handlers = [handler for handler in HANDLERS if handler.arguments is arguments]
        requests = [name.removeprefix("cmd_") for each in handlers for name in dir(each) if name.startswith("cmd_")]
        named = re.findall(r"`(\w+)`", " ".join(REQUESTS[name] for name in requests))
        missing = arguments.model_fields.keys() - Args.model_fields.keys() - set(named)
        assert not missing, f"docs/protocol.md, Commands: name {missing} in the row of the request that has it"


def test_there_are_twenty_wrong_inputs() -> None:
    assert len(WRONG_INPUTS) >= 20


@pytest.mark.parametrize(("typed", "told"), WRONG_INPUTS)
def test_wrong_inputs_are_answered_as_documented(capsys: pytest.CaptureFixture[str], typed: str, told: str) -> None:
    with pytest.raises(SystemExit) as caught:
        parser().parse_args(shlex.split(typed))
    assert caught.value.code == 2
    assert capsys.readouterr().err.splitlines()[0] == f"error: {told}"


def test_the_readme_fits_one_screen() -> None:
    assert len(README.split()) < 1200


FIGURES = (ROOT / "docs" / "figures.md").read_text(encoding="utf-8")
HELP = README.partition("**Does it help?**")[2].partition("## ")[0]
UNSEEN = r"\*{0,2}([\d.]+) %\*{0,2}; (\d+) (?:of 55|of 55 sessions .*) \| .* \| [\d.]+, (\d+) \|$"
"""The figures of a row on the 70 sessions: share of needs, sessions that were served, tokens a session."""


@pytest.mark.parametrize(
    ("row", "figure"),
    [
        ("first run", "first sight"),
        ("this version", "as shipped: "),
        ("baseline", "the last answer of the session before"),
    ],
)
def test_the_readmes_table_of_usefulness_is_that_of_the_figures(row: str, figure: str) -> None:
    ((share, served, tokens),) = re.findall(rf"^\| {figure}[^|]*\| {UNSEEN}", FIGURES, re.MULTILINE)
    (shown,) = re.findall(rf"^\| {row}[^|]*\| (.*) \|$", HELP, re.MULTILINE)
    assert shown == f"{served} of 55 | {float(share):.0f} % | {tokens}"


def test_the_readmes_other_figures_of_usefulness_are_those_of_the_figures() -> None:
    claim = " ".join(HELP.split())
    (share,) = re.findall(r"^\| as shipped \| \*\*([\d.]+) %\*\*", FIGURES, re.MULTILINE)
    served, needing = re.findall(
        r"^- In (\d+) of (\d+) sessions with a need, at least one need was served", FIGURES, re.MULTILINE
    )[0]
    assert f"{served} of {needing} got some of it: {float(share):.0f} % of the needed knowledge" in claim
    first, other, wrong = re.findall(
        r"^\| 100 given in the 70 sessions by a version .*\| \*\*(\d+) and (\d+) %\*\* \| (\d+) and",
        FIGURES,
        re.MULTILINE,
    )[0]
    assert f"one independent rater found {first} helpful or fair" in claim
    assert f"another {other}; each found {wrong} misleading" in claim


def test_the_readmes_pictures_are_there() -> None:
    pictures = re.findall(r'src(?:set)?="([^"]+)"', README)
    assert len(pictures) == 2
    assert all((ROOT / picture).is_file() for picture in pictures)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_anchors_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target, anchor in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", text):
        other = page.parent / target if target else page
        assert anchor in _anchors(other.read_text(encoding="utf-8")), f"{target}#{anchor}"


def _anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert target.startswith("https://") or (page.parent / target).exists(), target


def test_the_programs_of_the_readme_exist() -> None:
    """The programs of this checkout that the README names are there and may be run."""
    programs = set(re.findall(r"(?<![\w./])((?:bin|scripts)/\w+)", README))
    assert programs == {"bin/subconscious", "scripts/test"}
    assert all(os.access(ROOT / program, os.X_OK) for program in programs)


def test_the_benchmarks_that_are_named_exist() -> None:
    named = {
        name for page in PAGES for name in re.findall(r"`python -m bench\.(\w+)", page.read_text(encoding="utf-8"))
    }
    assert named
    for name in named:
        assert (ROOT / "bench" / f"{name}.py").exists() or (ROOT / "bench" / name / "__main__.py").exists()


def test_what_needs_a_persons_word_is_told() -> None:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    told = page.partition("## What needs your word")[2].partition("\n## ")[0]
    assert set(GUARDED) <= set(Settings.model_fields)
    names = {"redact_*" if name.startswith("redact_") else name for name in GUARDED}
    missing = [name for name in sorted(names) if f"`{name}`" not in told]
    assert not missing, f"docs/settings.md, What needs your word: add the guarded settings {missing}"


def test_the_skills_that_are_documented_are_those_there_are() -> None:
    skills = {path.parent.name for path in (ROOT / "skills").glob("*/SKILL.md")}
    assert set(re.findall(r"`/subconscious:(\w+)", COMMANDS)) == skills
    for skill in skills:
        text = (ROOT / "skills" / skill / "SKILL.md").read_text(encoding="utf-8")
        assert re.match(rf"---\nname: {skill}\ndescription: \S", text)
