"""Claude Code's own files: where its notes lie, what a note says, and what it tells a session by itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.claude_files.client_folders import config_folder, notes_folder, slug
from subconscious.claude_files.known_statements import KnownStatements, Statement, statements
from subconscious.claude_files.note import UnusableNoteError, parse

NOTE = """---
name: Lisbon-Printer
description: "Where invoices are printed"
metadata:
  node_type: memory
  type: reference
  originSessionId: 9480961d-36cf-476c-90f0-ab47687cef1a
---

Invoices go to the laser printer. See [[toner-supplier]], [[Office Map|the map]] and [[toner-supplier.md]].

**Why:** the ink printer smears.
"""


def test_a_note_is_taken_apart() -> None:
    note = parse(Path("x.md"), NOTE)
    assert (note.name, note.type, note.kind) == ("lisbon-printer", "reference", "research")
    assert note.description == "Where invoices are printed"
    assert note.links == ("toner-supplier", "office map")
    assert note.text.startswith("Where invoices are printed\nInvoices go to")


@pytest.mark.parametrize(
    ("text", "name", "kind", "said"),
    [
        ("Just a fact.", "a-file", "learning", "Just a fact."),
        (
            "---\r\nname: n\r\ndescription: A fact\r\ntype: user\r\n---\r\nA fact, in full.",
            "n",
            "preference",
            "A fact, in full.",
        ),
        ("\ufeff---\ndescription: Only this\n---\n", "a-file", "learning", "Only this"),
        ("---\nname: n\nmetadata:\n  type: nonsense\n---\nA fact.", "n", "learning", "A fact."),
    ],
)
def test_notes_that_are_written_otherwise_are_read_too(text: str, name: str, kind: str, said: str) -> None:
    note = parse(Path("A-File.md"), text)
    assert (note.name, note.kind, note.text) == (name, kind, said)


@pytest.mark.parametrize("text", ["", "  \n", "---\nname: x\ndescri", "---\nname: x\n---\n"])
def test_incomplete_or_empty_notes_are_rejected(text: str) -> None:
    with pytest.raises(UnusableNoteError):
        parse(Path("x.md"), text)


@given(st.text(max_size=300))
def test_any_text_is_a_note_or_refused(text: str) -> None:
    for whole in (text, f"---\n{text}", f"---\nname: {text}\n---\n{text}"):
        try:
            note = parse(Path("x.md"), whole)
        except UnusableNoteError:
            continue
        assert note.text


def test_folders_are_named_as_the_client_names_them() -> None:
    # Names that Claude Code 2.1.197 made of these paths.
    assert slug("/tmp/probe/plain_x y.é") == "-tmp-probe-plain-x-y--"
    long = f"/tmp/probe-r1zdoilo/{'a' * 100}/{'b' * 120}"
    assert slug(long) == f"-tmp-probe-r1zdoilo-{'a' * 100}-{'b' * 79}-kwk47e"


def test_the_clients_folder_is_found(tmp_path: Path) -> None:
    assert config_folder("/c", "/x/projects/p/s.jsonl") == Path("/c")
    assert config_folder("", "/x/projects/p/s.jsonl") == Path("/x")
    assert config_folder("relative", "/elsewhere/s.jsonl") == Path.home() / ".claude"


@pytest.mark.parametrize(
    ("chosen", "folder"),
    [
        ('"~/notes"', Path.home() / "notes"),
        ('"/srv/notes"', Path("/srv/notes")),
        ('"notes"', None),
        ('"//host/share"', None),
        ("7", None),
    ],
)
def test_the_users_settings_move_the_notes(tmp_path: Path, chosen: str, folder: Path | None) -> None:
    (tmp_path / "settings.json").write_text(f'{{"autoMemoryDirectory": {chosen}}}')
    assert notes_folder(tmp_path, "/a/b") == (folder or tmp_path / "projects" / "-a-b" / "memory")


@pytest.mark.parametrize(
    "settings", [b"", b"[]", b"{", b"\xff\xfe", b"[" * 100_000, b'{"autoMemoryDirectory": "/a\\u0000"}']
)
def test_settings_that_cannot_be_read_move_nothing(tmp_path: Path, settings: bytes) -> None:
    (tmp_path / "settings.json").write_bytes(settings)
    assert notes_folder(tmp_path, "/a") == tmp_path / "projects" / "-a" / "memory"


RULES = """# Rules of the house <!-- Never use tabs in Makefiles. -->

- Use `uv run pytest` for tests. Never call pip directly.
- **Amounts** are stored as integer cents,
  never as floats.
1. The staging database listens on port 6543.

```sh
Deploy on Fridays only.
```
"""


@pytest.mark.parametrize(
    ("memory", "told"),
    [
        ("We decided: amounts are stored as integer cents, never as floats.", True),
        ("Use uv run pytest for tests.", True),
        ("Never call pip directly. Amounts are stored as integer cents, never as floats.", True),
        ("Never call pip directly. Call the plumber.", False),
        ("Always call pip directly.", False),
        ("The staging database listens on port 5432.", False),
        ("The prod database listens on port 6543.", False),
        ("Amounts are stored as integer cents, since floats lost a cent.", False),
        ("Deploy on Fridays only.", False),
        ("Never use tabs in Makefiles.", False),
        ("", False),
        ("...", False),
    ],
)
def test_a_memory_is_known_if_one_file_states_all_of_it(memory: str, told: bool) -> None:
    known = KnownStatements([Statement(text, "CLAUDE.md") for text in statements(RULES)])
    assert known.source(memory) == ("CLAUDE.md" if told else "")


def test_files_that_are_not_loaded_at_the_start_are_unknown_there() -> None:
    known = KnownStatements([Statement("Never call pip directly.", "python.md", loaded=False)])
    assert known.source("Never call pip directly.") == "python.md"
    assert known.source("Never call pip directly.", loaded=True) == ""


SHOP = """- Use uv, never pip.
- Amounts are integer cents, never floats.
- Commit messages are always written in English.
"""


@pytest.mark.parametrize(
    "memory",
    [
        "Never use pip here, uv only.",
        "We use uv instead of pip",
        "dont use pip, use uv",
        "uv not pip",
        "Never use pip",
        "We decided to store all amounts as integer cents, because floats drifted.",
        "Never use floats for amounts, because they drift",
        "Store amounts as integer cents, never as floats",
        "always write commit messages in English (replying to: Anything else?)",
    ],
)
def test_a_file_tells_what_a_memory_says_in_other_words(memory: str) -> None:
    known = KnownStatements([Statement(text, "CLAUDE.md") for text in statements(SHOP)])
    assert known.told(memory) == "CLAUDE.md"
    elsewhere = KnownStatements([Statement(text, "python.md", loaded=False) for text in statements(SHOP)])
    assert elsewhere.told(memory) == ""


@pytest.mark.parametrize(
    "memory",
    [
        "Use pip, never uv",
        "Never use uv here, pip only.",
        "Use poetry, never pip",
        "Use uv, never pip in CI",
        "In prod use uv, never pip",
        "you can use pip again",
        "We no longer use uv, pip only",
        "Never use pip in the legacy folder, uv only",
        "Amounts are floats now, because cents overflowed.",
        "Amounts are floats, never integer cents",
        "Amounts are integer cents, never floats, except in the report",
        "All amounts are integer milli-cents, never floats",
        "In the billing service amounts are decimals",
        "Always write commit messages in German",
        "always write commit messages of releases in English",
        "in English, always (replying to: commit messages)",
    ],
)
def test_what_contradicts_or_narrows_a_line_is_not_told(memory: str) -> None:
    assert KnownStatements([Statement(text, "CLAUDE.md") for text in statements(SHOP)]).told(memory) == ""


@pytest.mark.parametrize(
    ("line", "memory"),
    [
        ("In tests, never use pip.", "Never use pip"),
        ("In CI, use uv, never pip.", "Use uv, never pip"),
        ("Deploys run on Mondays if the board is green.", "Deploys run on Mondays"),
        ("Dates are in UTC.", "always in UTC (replying to: times of the logs)"),
    ],
)
def test_a_line_for_one_place_or_occasion_does_not_state_the_general_rule(line: str, memory: str) -> None:
    known = KnownStatements([Statement(text, "CLAUDE.md") for text in statements(line)])
    assert known.told(memory) == known.source(memory) == ""


@pytest.mark.parametrize(
    ("line", "memory"),
    [
        ("Ask before running migrations.", "Ask before running migrations, otherwise never touch production."),
        ("Use pnpm.", "use pnpm, otherwise npm ci"),
        ("Ask before migrations.", "ask before migrations, otherwise run them on staging first"),
        ("Tests use SQLite.", "tests use SQLite, so that Docker is not needed: never start Docker in tests"),
        ("Tests use SQLite.", "tests use SQLite because it is fast: never start Docker in tests"),
        ("Use feature flags for new endpoints.", "use feature flags for new endpoints because Ben must approve each"),
        ("Nutze Feature-Flags.", "nutze Feature-Flags, weil Ben immer zustimmen muss"),
        ("Use the staging database.", "Use the staging database because prod is off limits."),
        ("Use pnpm.", "use pnpm because yarn is forbidden in CI"),
        ("Use Argo.", "use Argo because kubectl apply by hand is banned"),
        ("Deploy with make deploy.", "deploy with make deploy because main is frozen until May 3"),
        ("Nutze uv.", "nutze uv, weil pip verboten ist"),
        ("Usa uv.", "usa uv porque pip está prohibido"),
        ("Use black.", "use black because lines have 120 characters"),
        ("Keep the public API stable.", "keep the public API stable (asked: May I rename the endpoint /v1/orders?)"),
    ],
)
def test_instructions_in_a_reason_or_a_question_are_not_told(line: str, memory: str) -> None:
    assert KnownStatements([Statement(text, "CLAUDE.md") for text in statements(line)]).told(memory) == ""


@pytest.mark.parametrize(
    ("line", "memory"),
    [
        ("Use https. Never use http servers.", "Use https, not http."),
        ("Use uv. Never use sudo pip.", "Use uv, never pip."),
        ("Never push to main alone. Use a branch.", "Don't push to main, use a branch"),
        ("Never force push to main.", "Never push to main."),
        ("Never edit generated files.", "never edit files"),
        ("Never use raw SQL.", "never use SQL"),
        ("Avoid raw SQL.", "avoid SQL"),
        ("Nutze niemals rohes SQL.", "nutze niemals SQL"),
    ],
)
def test_a_line_that_forbids_less_does_not_state_a_prohibition(line: str, memory: str) -> None:
    known = KnownStatements([Statement(text, "CLAUDE.md") for text in statements(line)])
    assert known.told(memory) == known.source(memory) == ""


@pytest.mark.parametrize(
    ("line", "same", "contrary"),
    [
        ("Always rebase, never merge.", "never merge", "never rebase"),
        (
            "Use docker compose, not docker-compose.",
            "Use docker compose, not docker-compose",
            "never use docker compose",
        ),
        ("Nutze pnpm statt npm.", "nutze pnpm", "nutze npm"),
        ("Nutze pnpm statt npm.", "nutze pnpm statt npm, weil es schneller ist", "nutze npm statt pnpm"),
        ("Nutze pnpm, nicht npm.", "nutze pnpm", "nutze npm"),
        ("Nutze pnpm, nicht npm.", "nutze pnpm", "nutze nicht pnpm"),
        ("Nutze npm nicht.", "nutze npm nicht", "nutze npm"),
        ("Utilise pnpm, pas npm.", "utilise pnpm", "utilise npm"),
        ("Usa pnpm en vez de npm.", "usa pnpm", "usa npm"),
        ("Usa pnpm em vez de npm.", "usa pnpm", "usa npm"),
        ("Use pnpm over npm.", "use pnpm", "use npm"),
        ("Use pnpm instead of npm.", "use pnpm", "use npm"),
        ("Use pnpm rather than npm.", "use pnpm", "use npm"),
    ],
)
def test_what_a_line_rejects_is_not_what_it_demands(line: str, same: str, contrary: str) -> None:
    known = KnownStatements([Statement(text, "CLAUDE.md") for text in statements(line)])
    assert known.told(same) == "CLAUDE.md"
    assert known.told(contrary) == known.source(contrary) == ""


@pytest.mark.parametrize(
    "file",
    [
        "# Never\n- push to main",
        "# Don\u2019ts\n\nThese:\n\n# Don'ts\n\n- use npm\n- push to main",
        "Don't:\n- push to main",
        "## Verboten\n* push to main",
        "# Never\n## Do not\n- push to main",
        "TODO: push to main",
        "Deprecated: push to main",
        "# Deprecated\n- push to main",
        "- [ ] push to main",
        "For the docs repo:\n- push to main",
    ],
)
def test_a_list_of_what_does_not_hold_states_nothing(file: str) -> None:
    known = KnownStatements([Statement(text, "CLAUDE.md") for text in statements(file)])
    assert known.told("push to main") == known.source("push to main") == ""


@pytest.mark.parametrize(
    "file",
    [
        "# Always\n- push to main",
        "# Rules\n\nNever:\n- force\n\nAlways:\n- push to main",
        "# Never\n- force\n# Git\n- push to main",
        "- [x] push to main",
        "Rules:\n\n1. push to main",
        "# Old rules still hold\n- push to main",
        "# What you must never forget when working on the shop\n- push to main",
        "In general we do it so. Push to main.",
    ],
)
def test_other_lists_state_their_items(file: str) -> None:
    known = KnownStatements([Statement(text, "CLAUDE.md") for text in statements(file)])
    assert known.told("push to main") == "CLAUDE.md"


@given(st.text(max_size=400), st.text(max_size=100))
def test_any_text_can_be_compared(text: str, memory: str) -> None:
    known = KnownStatements([Statement(one, "x") for one in statements(text)])
    assert known.told(memory) or not known.source(memory)
