"""Notes as Claude Code 2.1.197 writes them, in a client's folder of a test's own."""

from __future__ import annotations

import os
from pathlib import Path

from subconscious.claude_files.client_folders import slug


def notes_of(config: Path, project: Path) -> Path:
    """The client's folder of notes on a project."""
    folder = config / "projects" / slug(os.path.realpath(project)) / "memory"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def note(config: Path, project: Path, name: str, fact: str, *, sort: str = "project", description: str = "") -> Path:
    """Write one note in the client's format; return its file."""
    file = notes_of(config, project) / f"{name}.md"
    front = f"---\nname: {name}\ndescription: {description}\nmetadata: \n  node_type: memory\n  type: {sort}\n---\n\n"
    file.write_text(f"{front}{fact}\n", encoding="utf-8")
    return file


def index(config: Path, project: Path, *names: str) -> Path:
    """Write the index of the notes, with a line for each of these."""
    file = notes_of(config, project) / "MEMORY.md"
    file.write_text("".join(f"- [{name}]({name}.md) - a fact\n" for name in names), encoding="utf-8")
    return file
