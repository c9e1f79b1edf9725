"""Folders that a text names, and the statements that are about all files in them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hooks.known_files import may_be_known
from subconscious.domain.model import Origin
from subconscious.recall.file_binding import Touched, bond
from subconscious.surfacing.published_files import lines_of
from subconscious.text.folders import folders_in, paths_in, restricts
from tests.support.values import make_memory
from tests.unit.test_file_names import payload, published

ROOT = "/repos/shop"


def bound(text: str, path: str, origin: Origin = Origin.USER) -> bool:
    return bond(make_memory(text, origin=origin), Touched(path, ROOT)) >= 0.6


@pytest.mark.parametrize(
    "said",
    [
        "dont touch templates/legacy, thats lenas until she is back on dec 7",
        "don't touch legacy/, that is the other team's",
        "Never edit anything in `templates/legacy/` by hand.",
        "the legacy folder is read-only",
        "templates/legacy/** is generated",
        "hands off ./templates",
        "/repos/shop/templates/legacy belongs to the design team",
        "/home/me/shop/templates/legacy belongs to the design team",
        "shop/templates is owned by the design team",
        "Texts in templates/legacy are in latin-1.",
        "Finger weg vom Ordner legacy",
        "Finger weg vom Ordner legacy.",
        "der Legacy-Ordner gehört dem anderen Team",
        "no toques la carpeta legacy",
        "ne pas toucher au dossier `legacy`",
        "non toccare la cartella legacy",
        "не трогай папку legacy",
        "不要修改templates/legacy目录",
        "templates/legacyは変更しないで",
        "templates/legacy는 건드리지 마세요",
    ],
)
def test_a_statement_that_names_a_folder_is_about_every_file_in_it(said: str) -> None:
    assert bound(said, "templates/legacy/mail/a.txt")
    assert not bound(said, "invoices/a.txt")
    assert not bound(said, "templates/legacy/mail/a.txt", Origin.ASSISTANT)


@pytest.mark.parametrize(
    "said",
    [
        "tests go through ./dev test, never pytest directly",
        "only dhl and/or hermes sign",
        "never use https://example.org/templates/legacy",
        "never edit templates/legacy/b.txt",
        "don't change anything in the folder",
        "only ../templates/legacy is ours",
        "the legacy code is not ours",
    ],
)
def test_other_statements_are_not(said: str) -> None:
    assert not bound(said, "templates/legacy/a.txt")


@pytest.mark.parametrize(
    "said",
    [
        "keine neuen Ordner anlegen",
        "don't add a new folder",
        "working directory only",
        "never run it from the home directory",
        "keep the dir clean",
        "write in a folder without asking",
        "no crear una carpeta nueva",
        "never add a folder structure",
        "keinen Ordner hinzufügen",
    ],
)
def test_a_word_beside_the_word_folder_may_be_no_name(said: str) -> None:
    assert folders_in(said) == ()


@pytest.mark.parametrize(
    ("said", "path", "other"),
    [
        ("never edit app/(admin)/ pages", "app/(admin)/users/page.tsx", "app/page.tsx"),
        ("app/[id]/ is off limits", "app/[id]/page.tsx", "app/page.tsx"),
        ("don't touch `app/(shop)/[...slug]`.", "app/(shop)/[...slug]/page.tsx", "app/(shop)/page.tsx"),
        ("don't touch [the docs](docs/legacy/)", "docs/legacy/a.md", "docs/a.md"),
        ("never edit (see src/gen/)", "src/gen/a.py", "src/a.py"),
        ("never edit @scope/pkg/", "packages/@scope/pkg/a.ts", "packages/@scope/b.ts"),
        ("never edit @docs/legacy/", "docs/legacy/a.md", "docs/a.md"),
    ],
)
def test_signs_belong_to_the_name_of_a_folder(said: str, path: str, other: str) -> None:
    assert bound(said, path)
    assert not bound(said, other)


@pytest.mark.parametrize("folder", ["src/", "src/shop", "the tests folder"])
def test_a_folder_with_most_files_needs_a_restriction(folder: str) -> None:
    path = "tests/a.py" if "tests" in folder else "src/shop/a.py"
    assert not bound(f"The code is in {folder}.", path)
    assert bound(f"Don't change {folder} this week.", path)


@pytest.mark.parametrize(
    ("said", "restricted"),
    [
        ("never edit it", True),
        ("it\u2019s off limits, don\u2019t touch it", True),
        ("nur Lena ändert das", True),
        ("nichts in src/ ändern", True),
        ("change nothing under lib/", True),
        ("rien ne change dans src/", True),
        ("nadie toca src/", True),
        ("ninguém mexe em src/", True),
        ("src/ ist tabu", True),
        ("ask Anna before changing src/", True),
        ("it has the mail texts", False),
    ],
)
def test_restrictions_are_recognised(said: str, restricted: bool) -> None:
    assert restricts(said) == restricted


def test_prompts_name_paths_in_many_ways() -> None:
    prompt = "fix @templates/legacy/A.txt:12, /repos/shop/b/c.py and d.go. Not https://x.org/y /etc/passwd or ~/z/q.py"
    assert paths_in(prompt, ROOT) == ["templates/legacy/A.txt", "b/c.py", "d.go"]
    assert paths_in("clean up the Legacy folder and src/gen/.", ROOT) == ["src/gen", "legacy"]


@given(st.text(alphabet="ab1 ./-_@~*:\"'\u00e9\u4e0d\u306f", max_size=30), st.sampled_from(["", "folder", "Ordner"]))
def test_all_folders_of_statements_are_published(text: str, word: str) -> None:
    said = f"never {text} {word}"
    published_lines = set(lines_of(said, (), by_user=True))
    for folder in folders_in(said):
        path = "/".join(folder.parts) + "/file.py"
        if folder.parts and bond(make_memory(said), Touched(path, ROOT)) > 0.0:
            plain = {f"{part}/" for part in folder.parts}
            assert published_lines & {*plain, "*/"}


def test_hooks_ask_about_files_in_published_folders(tmp_path: Path) -> None:
    published(tmp_path, "legacy/")
    assert may_be_known(str(tmp_path), payload("/repo/templates/Legacy/mail/a.txt"))
    assert not may_be_known(str(tmp_path), payload("/repo/templates/legacy.txt"))
    assert not may_be_known(str(tmp_path), payload("/repo/legacy2/a.txt"))
    assert not may_be_known(str(tmp_path), payload("/b\u00fcro/a.txt").replace(b"\\u00fc", "\u00fc".encode()))


def test_a_rule_about_a_folder_link_is_about_the_files_behind_it(tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "legacy").symlink_to("code")
    published(tmp_path, "legacy/")
    assert may_be_known(str(tmp_path), payload(f"{tmp_path}/legacy/a.py"))
    assert not may_be_known(str(tmp_path), payload(f"{tmp_path}/code/a.py"))
    rule = make_memory("Never edit files in legacy/")
    assert bond(rule, Touched("code/a.py", ROOT, given="legacy/a.py")) > 0.9
    assert not bond(rule, Touched("code/a.py", ROOT))


def test_hooks_ask_about_folders_with_names_that_are_not_published(tmp_path: Path) -> None:
    published(tmp_path, *lines_of("b\u00fcro/ is read-only", (), by_user=True))
    assert may_be_known(str(tmp_path), payload("/repo/b\u00fcro/a.txt").replace(b"\\u00fc", "\u00fc".encode()))
    assert not may_be_known(str(tmp_path), payload("/repo/legacy/a.txt"))


def test_only_folders_of_the_users_statements_are_published() -> None:
    assert set(lines_of("never edit vendor/", (), by_user=True)) == {"vendor/"}
    assert set(lines_of("never edit vendor/", (), by_user=False)) == set()
    assert set(lines_of("the code is in src/", (), by_user=True)) == set()
