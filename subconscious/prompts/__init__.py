"""What models are asked, one file a prompt: `name.version.md`. A changed wording is a new version, never an edit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

MARK = "\n---\n"


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt's ``system`` part and the ``text`` of its request, a template for ``str.format_map``."""

    name: str
    version: int
    system: str
    text: str


@cache
def prompt(name: str, version: int) -> Prompt:
    """Read a prompt; a line of three hyphens parts what it is told from what it is given."""
    source = files("subconscious.prompts").joinpath(f"{name}.{version}.md").read_text(encoding="utf-8")
    system, _, text = source.partition(MARK)
    return Prompt(name, version, system.strip(), text.strip())
