"""How a request wants something found: by which preset, in which mode, at what cost."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from subconscious.flow.mind import Mind

from .args import Args

CHOICES = {"preset": "fusion", "mode": "recall_mode", "budget": "recall_budget"}
"""Argument -> the setting that holds where a request does not say."""


class FindingArgs(Args):
    """What a search takes besides the question; all of it is a setting otherwise."""

    preset: Literal["relative", "rrf", "nexus"] | None = None
    mode: Literal["any", "auto", "execution", "planning", "brainstorming"] | None = None
    budget: Literal["lean", "balanced", "deep"] | None = None
    nearest: bool | None = None


def chosen(mind: Mind, args: FindingArgs) -> Mind:
    """The mind under the settings that a request asks for."""
    said = {setting: getattr(args, name) for name, setting in CHOICES.items() if getattr(args, name) is not None}
    return replace(mind, settings=mind.settings.model_copy(update=said))
