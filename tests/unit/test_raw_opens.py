"""Where files are opened other than by `subconscious.system.safe_files`, each place with the reason why that is safe.

A path that a repository, a session, the spool or another process can choose may be a FIFO, a device or endless.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("subconscious", "daemon", "cli", "hooks")
OPENING = {"open", "read_text", "read_bytes", "write_text", "write_bytes"}

OURS = "a file of the installed package"
KERNEL = "a file of the kernel's in /proc, at a path that nobody else chooses"
FOLDER = "the working folder, or /dev/null"
LOCK = "a lock of ours, opened for reading and writing, which does not wait for a FIFO's other end"
EXCLUSIVE = "made by this very call (O_EXCL), or refused"
ENVIRONMENT = "made by the maker itself in a folder that it has just made"

ALLOWED: dict[str, tuple[int, str]] = {
    "subconscious/system/safe_files.py": (4, "this is where it is done safely"),
    "hooks/regular.py": (2, "this is where the hooks do it safely"),
    "subconscious/capture/detectors/corrections.py": (1, OURS),
    "subconscious/capture/judge.py": (1, OURS),
    "subconscious/supersession/pair_model.py": (1, OURS),
    "subconscious/files/folder.py": (4, "relative to an open folder, without following links; regular files only"),
    "subconscious/sharing/git.py": (1, f"the lock of a ref: {EXCLUSIVE}"),
    "subconscious/system/git_command.py": (3, "files of a folder that this very call has made (mkdtemp)"),
    "subconscious/embeddings/local.py": (2, "the model of an installed package, and a file in a new folder of its own"),
    "subconscious/embeddings/wordpiece.py": (1, OURS),
    "subconscious/links/judge.py": (1, OURS),
    "subconscious/poisoning/attack_model.py": (1, OURS),
    "subconscious/text/linear.py": (1, OURS),
    "subconscious/llm/prompts/__init__.py": (1, OURS),
    "subconscious/settings/provider_table.py": (1, OURS),
    "subconscious/redaction/gitleaks.py": (1, OURS),
    "subconscious/redaction/wallets.py": (1, OURS),
    "subconscious/store/foreign.py": (1, "in a folder that this very call has made"),
    "subconscious/store/migrate.py": (1, OURS),
    "cli/demo.py": (4, "files of the package, and of a stage that the demo makes for itself"),
    "hooks/greet.py": (2, f"{OURS}, and a nameless file: {EXCLUSIVE}"),
    "cli/tools/declared.py": (1, "run by developers, in their checkout"),
    "subconscious/llm/providers/scripted.py": (2, "the tests' own provider"),
    "cli/origin.py": (2, KERNEL),
    "subconscious/system/heap.py": (1, KERNEL),
    "subconscious/authorship/peers.py": (1, KERNEL),
    "subconscious/authorship/tcp_peers.py": (1, KERNEL),
    "subconscious/doctor/folder.py": (1, KERNEL),
    "cli/__main__.py": (3, FOLDER),
    "hooks/ask.py": (1, FOLDER),
    "subconscious/wire/__init__.py": (1, FOLDER),
    "daemon/server.py": (1, FOLDER),
    "subconscious/page/api.py": (1, "the server's method of that name begins to serve"),
    "daemon/lifecycle.py": (1, "the server's method of that name opens a socket"),
    "daemon/lock.py": (1, LOCK),
    "subconscious/upkeep/restore.py": (1, LOCK),
    "subconscious/knowledge/rendering.py": (1, EXCLUSIVE),
    "hooks/cap.py": (1, EXCLUSIVE),
    "hooks/drop.py": (1, EXCLUSIVE),
    "hooks/rendered.py": (1, "does not block, and looks at what it has opened: no module more for a hook that is late"),
    "hooks/environment.py": (3, f"the plugin's own files, /dev/null, and a marker: {EXCLUSIVE}"),
    "hooks/maker.py": (7, ENVIRONMENT),
    "hooks/extras.py": (3, ENVIRONMENT),
    "subconscious/files/reading.py": (1, "a member of an archive that was read safely"),
    "subconscious/store/team/connection.py": (1, "the pool's own method of that name"),
    "subconscious/store/team/migrate.py": (2, OURS),
    "subconscious/store/vectors/__init__.py": (1, "the index's own method of that name"),
}
CONNECTING = {
    "subconscious/store/backups.py",  # the daemon's database, which it has open, or a copy that was checked
    "subconscious/store/check.py",
    "subconscious/store/connect.py",
    "subconscious/store/foreign.py",
    "subconscious/store/health.py",
    "subconscious/store/restoring.py",
    "subconscious/store/vectors/vec0.py",
}
"""Who opens databases: each makes sure first that a regular file lies there."""


def _opens(path: Path) -> Iterator[ast.Call]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and _name(node.func) in OPENING:
            yield node


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _files() -> list[Path]:
    return [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]


def test_files_are_opened_safely_or_for_a_reason_that_stands_here() -> None:
    found = Counter({str(path.relative_to(ROOT)): len(list(_opens(path))) for path in _files()})
    assert {place: number for place, number in found.items() if number} == {
        place: number for place, (number, _) in ALLOWED.items()
    }


def test_only_the_store_opens_databases() -> None:
    naming = {str(path.relative_to(ROOT)) for path in _files() if "sqlite3.connect" in path.read_text(encoding="utf-8")}
    assert naming <= CONNECTING
