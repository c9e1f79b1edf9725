"""The prompts for models, one file each: `name.version.md`. A changed prompt is a new version, never an edit."""

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
    """Return a prompt from its file; a line of three hyphens separates the system part from the text of the request."""
    source = files("subconscious.llm.prompts").joinpath(f"{name}.{version}.md").read_text(encoding="utf-8")
    system, _, text = source.partition(MARK)
    return Prompt(name, version, system.strip(), text.strip())
