"""Selects the failures and habits that are relevant to a prompt or file; see `surfacing.bound`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import PurePath

from subconscious.domain.model import Memory
from subconscious.failures.checks import is_much
from subconscious.failures.wording import of_checks, of_types, shows_whitespace, tabbed_types
from subconscious.recall.file_binding import Touched
from subconscious.recall.recall_context import RecallContext
from subconscious.store import memories, poison, responses, unconfirmed
from subconscious.surfacing.bound import binding_of, family_of, is_lint_check, is_repair
from subconscious.surfacing.eligibility import is_heard

LOOKED_AT = 50
"""The number of memories of a project that are examined: those that were observed in the most sessions."""

CHECKS_AT_ONCE, MOST_CHECKS = 1, 2
"""The most lint checks that are shown with one file, and in one session: they help less than other failures."""

MANY_CHECKS, LISTED_CHECKS = 3, 8
"""How many checks of a language must have failed repeatedly to be shown as one list, and how many this list contains.

In a project with such a linter, one session in three that changes code meets one of these checks again, but rarely the
check that was predicted from its new code.
"""

LEAST, MOST = 0.8, 0.99
"""The strength (0 to 1) of a memory observed in one session, and the strength that it approaches with many sessions."""

_FILE_TYPE = re.compile(r"`\.\w{1,10}`")

Bound = list[tuple[Memory, float]]


async def bindable(ctx: RecallContext, project_id: str) -> list[Memory]:
    """Return the memories of a project that are shown only with a prompt or file for which they are relevant.

    They include unconfirmed failures of a single session, because half of those occur again. Lint checks of a single
    session are excluded: they occur again too rarely.
    """
    known = await memories.from_tool_calls(ctx.database, project_id, LOOKED_AT)
    known += await _met_once(ctx, project_id) if ctx.settings.unconfirmed else []
    return [memory for memory in known if binding_of(memory) is not None]


async def _met_once(ctx: RecallContext, project_id: str) -> list[Memory]:
    """Return the latest unconfirmed failures of a project, without lint checks and memories that may be poisoned."""
    found = await unconfirmed.observed(ctx.database, project_id, LOOKED_AT)
    flagged = await poison.levels(ctx.database, [memory.id for memory in found])
    return [memory for memory in found if memory.id not in flagged and not is_lint_check(memory)]


async def fitting_prompt(ctx: RecallContext, known: list[Memory], text: str, in_context: Collection[str] = ()) -> Bound:
    """Return the memories that are relevant to a prompt, each with its strength.

    ``in_context`` are the hashes of the memories in the session's context; they are not repeated. Failures that
    are bound to a file type, repairs with a command that the prompt names, and habits that nothing in the project shows
    are always returned. Other memories are left out after several sessions received them without responding.
    """
    bound = {one.id: bound for one in known if (bound := binding_of(one)) and bound.fits_prompt(text)}
    fits = [one for one in known if one.id in bound]
    always = {one.id for one in fits if _comes_always(one, text)}
    awake = await _awake(ctx, [one for one in fits if one.id not in always])
    kept = [one for one in fits if one.id in always | awake]
    return [(_with_all_types(one, known), sure) for one, sure in _each_once(kept, _stated(known, in_context))]


def _comes_always(memory: Memory, text: str) -> bool:
    binding = binding_of(memory)
    named = is_repair(memory) and binding is not None and bool(binding.asked.search(text))
    return binding is not None and bool(binding.read or binding.lasting or named)


async def fitting_file(
    ctx: RecallContext,
    known: list[Memory],
    touched: Touched,
    in_context: Collection[str] = (),
    given: Collection[int] = (),
) -> Bound:
    """Return the memories that are relevant to a file, each with its strength.

    ``given`` are the ids of the memories that the session has received. Nearly every session reads or changes files of
    such types, so memories are left out after several sessions received them without responding, as at session starts.
    Memories that require a certain path are always returned, because few files have it.
    """
    listed = _listed_checks(known, touched)
    fits = [one for one in known if one in listed or ((bound := binding_of(one)) and bound.fits_file(touched))]
    awake = await _awake(ctx, fits)
    awake |= {one.id for one in fits if (bound := binding_of(one)) and bound.path}
    found = _each_once((one for one in fits if one.id in awake), _stated(known, in_context))
    most = CHECKS_AT_ONCE if listed else MOST_CHECKS
    few = _with_few_checks(found, most - sum(one.id in given for one in known if is_lint_check(one)))
    return [(_with_all_types(_with_checks(one, listed), known), sure) for one, sure in few]


async def _awake(ctx: RecallContext, fits: list[Memory]) -> set[int]:
    """Return the ids of the memories that sessions respond to, or that few sessions have received so far."""
    feedback = ctx.settings.feedback and fits
    heard = await responses.of_memories(ctx.database, [one.id for one in fits]) if feedback else {}
    return {one.id for one in fits if is_heard(one, heard.get(one.id, responses.NONE))}


def _listed_checks(known: Iterable[Memory], touched: Touched) -> list[Memory]:
    """Return the lint checks that are shown as one list with a large change, first those that most sessions met.

    Return no checks if only few failed in several sessions.
    """
    file_type = PurePath(touched.path).suffix
    often = [one for one in known if one.recurrence > 1 and (bound := binding_of(one)) and bound.check]
    checks = [one for one in often if (bound := binding_of(one)) and file_type in bound.changed]
    checks.sort(key=lambda one: -one.recurrence)
    large = touched.changed and is_much(touched.written)
    return checks[:LISTED_CHECKS] if large and len(checks) >= MANY_CHECKS else []


def _with_checks(memory: Memory, listed: Sequence[Memory]) -> Memory:
    """Return a memory about one of the listed checks with all of them in its text; any other memory unchanged."""
    if memory not in listed:
        return memory
    found = [memory, *(one for one in listed if one is not memory)]
    named = [(bound.check, one.recurrence) for one in found if (bound := binding_of(one))]
    return replace(memory, content=of_checks(named))


def _with_few_checks(found: Bound, left: int) -> Bound:
    """Return ``found`` with only the strongest lint checks; ``left`` is how many more the session may receive."""
    checks = sorted((one for one in found if is_lint_check(one[0])), key=lambda one: -one[1])
    kept = checks[: max(0, min(CHECKS_AT_ONCE, left))]
    return [one for one in found if one in kept or not is_lint_check(one[0])]


def _stated(known: Iterable[Memory], in_context: Collection[str]) -> set[str]:
    """Return the results of ``_regardless_of_type`` for the memories in a session's context."""
    return {_regardless_of_type(one) for one in known if one.content_hash in in_context}


def _each_once(found: Iterable[Memory], stated: Collection[str]) -> Bound:
    """Return one memory, with its strength, of each group that differs only in file type; skip texts in ``stated``."""
    first: dict[str, Memory] = {}
    for memory in found:
        first.setdefault(_regardless_of_type(memory), memory)
    return [(memory, _strength(memory)) for key, memory in first.items() if key not in stated]


def _with_all_types(memory: Memory, known: Sequence[Memory]) -> Memory:
    """Return a memory about tabs with all file types that are indented with tabs; any other memory unchanged.

    Sessions run commands that show whitespace after an edit failed because of tabs. If such a command failed in the
    project, what then worked is added to the text.
    """
    if not tabbed_types(memory.content):
        return memory
    alike = [one for one in known if (bound := binding_of(one)) and bound.read and tabbed_types(one.content)]
    types = sorted({file_type for one in alike for file_type in tabbed_types(one.content)})
    shown = [one.content for one in known if shows_whitespace(one.content)]
    most = max(one.recurrence for one in alike)
    return replace(memory, content=of_types(types, shown[:1]), recurrence=most)


def _regardless_of_type(memory: Memory) -> str:
    """Return a memory's text with one file type for all that are formatted alike: .cjs in place of .ts and .tsx.

    Memories about tabs all have the same result, because a memory about tabs is shown with all its file types.
    """
    if tabbed_types(memory.content):
        return "indented with tabs"
    return _FILE_TYPE.sub(lambda found: f"`{min(family_of(found[0].strip('`')))}`", memory.content)


def _strength(memory: Memory) -> float:
    """Return the strength of a memory: it rises with the number of sessions in which the memory was observed."""
    return MOST - (MOST - LEAST) / max(1, memory.recurrence)
