"""The types of results (subconscious/wire): equal at both ends, and equal to the values that they describe."""

from __future__ import annotations

from dataclasses import fields
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, get_type_hints, is_typeddict

import pytest

from daemon.commands import HANDLERS
from subconscious import wire
from subconscious.calibration import curves
from subconscious.capture import explanations
from subconscious.consolidation import consolidating
from subconscious.decay import Facts, Verdict
from subconscious.domain import hits, model, promotion
from subconscious.framing import rules as framing
from subconscious.imports import importing, sources, with_model
from subconscious.links import graph
from subconscious.memories import fading
from subconscious.recall import tiers
from subconscious.store import handovers, maintenance, projects, responses
from subconscious.store.connect import Database
from subconscious.wire import captures, daemon, decay, imports, links, memories, sessions, stats, upkeep
from tests.support.shapes import result_types, variants

MODULES = [import_module(f"subconscious.wire.{module.name}") for module in iter_modules(wire.__path__)]
TYPES = {name: value for module in MODULES for name, value in vars(module).items() if is_typeddict(value)}


def _by_handlers() -> dict[str, object]:
    """The result type of each request, as its handler declares it."""
    methods = {name: getattr(handler, name) for handler in HANDLERS for name in dir(handler) if name.startswith("cmd_")}
    return {name.removeprefix("cmd_"): get_type_hints(method)["return"] for name, method in methods.items()}


def test_callers_and_handlers_agree_on_every_result() -> None:
    assert result_types() == _by_handlers()


def test_every_result_is_typed() -> None:
    assert [name for name, result in _by_handlers().items() if not all(map(is_typeddict, variants(result)))] == []


@pytest.mark.parametrize(
    ("described", "value"),
    [
        (memories.MemoryFields, model.Memory),
        (memories.Surface, hits.Surface),
        (memories.EngineHit, hits.EngineHit),
        (memories.PromotionStatus, promotion.PromotionStatus),
        (memories.ShortenedText, tiers.ShortenedText),
        (captures.Finding, model.Finding),
        (daemon.Project, projects.Project),
        (decay.Facts, Facts),
        (decay.Verdict, Verdict),
        (decay.FadeResult, fading.Report),
        (imports.ImportFileResult, importing.ImportResult),
        (imports.ImportReadResult, with_model.QueuedReading),
        (links.Branch, graph.Branch),
        (links.LinkFields, model.Link),
        (sessions.ExplainedSentence, explanations.Explained),
        (sessions.Handover, handovers.Handover),
        (sessions.Responses, responses.Responses),
        (sessions.Session, model.Session),
        (stats.Tenth, curves.Tenth),
        (upkeep.ConsolidateResult, consolidating.Report),
        (upkeep.RunFields, maintenance.Run),
    ],
)
def test_a_result_has_the_fields_of_its_value(described: Any, value: Any) -> None:
    assert set(get_type_hints(described)) == {field.name for field in fields(value)}


@pytest.mark.parametrize(
    ("described", "value", "added"),
    [
        (imports.SourceFile, sources.SourceFile, {"project", "read", "model"}),
        (sessions.SuppressedMemory, framing.Held, {"session_id", "event", "at"}),
    ],
)
def test_a_result_has_more_fields_than_its_value(described: Any, value: Any, added: set[str]) -> None:
    assert set(get_type_hints(described)) == {field.name for field in fields(value)} | added


@pytest.mark.parametrize(
    ("described", "table"),
    [("Capture", "implicit_captures"), ("Event", "events"), ("CorrectionRow", "memory_corrections")],
)
async def test_a_row_has_the_columns_of_its_table(database: Database, described: str, table: str) -> None:
    columns = {row["name"] for row in await database.rows(f"PRAGMA table_info({table})")}
    assert set(get_type_hints(TYPES[described])) == columns


@pytest.mark.parametrize("described", TYPES.values(), ids=TYPES)
def test_the_types_of_results_are_complete(described: Any) -> None:
    """Annotations are text until they are read: a missing name would show up nowhere else."""
    assert get_type_hints(described)
    assert described.__doc__
