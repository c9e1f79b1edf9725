"""Finds the memories that are about a file: those that name it, and the user's statements about its folders."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from subconscious.domain.model import Memory, Origin
from subconscious.failures.wording import found_path
from subconscious.recall.engines import projects_of
from subconscious.recall.file_binding import NAMED, Touched, bond, folder_bond
from subconscious.recall.recall_context import RecallContext
from subconscious.sessions.past_work import changed_since
from subconscious.store import full_text, responses
from subconscious.surfacing.eligibility import is_fact, is_finding, is_for_one_task
from subconscious.surfacing.portfolio import MOST_UNHEEDED
from subconscious.text.folders import paths_in, restricts

CANDIDATES = 100
"""The most memories that are compared with a file."""

NEAR_WORK = 0.4
"""The least cosine, between the session's prompt and a finding on a file, at which the finding is about the work."""

OVERTAKEN = 2
"""A finding on a file counts as outdated when at least this many later sessions have changed the file."""

WORK_LETTERS = 400
"""The most characters of a prompt, from its beginning, with which findings are compared."""

MOST_PATHS = 10
"""The most paths of a prompt for which memories are looked up."""

Bound = list[tuple[Memory, float]]
"""Memories, each with the strength of its binding to a file, 0 to 1."""


async def of_file(ctx: RecallContext, project_id: str, touched: Touched) -> Bound:
    """Return the memories about a file that may help with the current prompt."""
    found = await full_text.naming(ctx.database, touched.name, projects_of(project_id), CANDIDATES)
    found += await _about_folders(ctx, project_id, touched)
    found = list({memory.id: memory for memory in found}.values())
    new = [memory for memory in found if found_path(memory.content) != touched.path]  # the session has found that file
    bound = [(memory, strength) for memory in new if (strength := bond(memory, touched))]
    return await about_the_work(ctx, project_id, bound, touched)


async def of_paths(ctx: RecallContext, project_id: str, text: str, folder: str) -> Bound:
    """Return the user's statements about folders of the paths in a prompt, and those that restrict work on the files.

    They are returned even if several sessions received them without using them: the prompt is about them.
    """
    found: dict[int, tuple[Memory, float]] = {}
    for path in paths_in(text, folder)[:MOST_PATHS]:
        touched = Touched(path, folder)
        named = await full_text.naming(ctx.database, touched.name, projects_of(project_id), CANDIDATES)
        about = [memory for memory in named if memory.origin is Origin.USER and restricts(memory.content)]
        about = [memory for memory in about if touched.name in memory.content]
        about += await _about_folders(ctx, project_id, touched)
        found |= {memory.id: (memory, bond(memory, touched)) for memory in about}
    return [one for one in found.values() if one[1] >= NAMED]


async def _about_folders(ctx: RecallContext, project_id: str, touched: Touched) -> list[Memory]:
    """Return the user's statements about a folder that contains a file, without those that were for one task."""
    parts = (PurePosixPath(touched.root).name, *touched.path.split("/"), *touched.given.split("/"))
    names = [part.casefold() for part in dict.fromkeys(parts) if part]
    found = await full_text.naming_folders(ctx.database, names, projects_of(project_id), CANDIDATES)
    lasting = (memory for memory in found if restricts(memory.content) or not is_for_one_task(memory))
    return [memory for memory in lasting if folder_bond(memory, touched)]


async def about_the_work(
    ctx: RecallContext, project_id: str, bound: Sequence[tuple[Memory, float]], touched: Touched
) -> Bound:
    """Return the memories about a file, without findings that were ignored, are outdated, or don't fit the prompt.

    Facts that the user stated without naming the file or its folder are treated like findings: they were stated while
    a session worked on the file, and are perhaps not about it.
    """
    unnamed = [memory for memory, _ in bound if touched.name not in memory.content]
    facts = [memory for memory in unnamed if is_fact(memory) and not folder_bond(memory, touched)]
    doubtful = [*(memory for memory, _ in bound if is_finding(memory)), *facts]
    if not doubtful:
        return list(bound)
    ids = [memory.id for memory in doubtful]
    heard = await responses.of_memories(ctx.database, ids) if ctx.settings.feedback else {}
    changed = await changed_since(ctx, project_id, touched.name, doubtful)
    apart = {number for number, one in heard.items() if one.unheeded >= MOST_UNHEEDED}
    apart |= {number for number, count in changed.items() if count >= OVERTAKEN}
    apart |= await _far_from(ctx, ids, touched.work)
    return [(memory, strength) for memory, strength in bound if memory.id not in apart]


async def _far_from(ctx: RecallContext, ids: Sequence[int], work: str) -> set[int]:
    """Return the ids of the memories that are not about ``work``, a prompt; none if the vectors are missing."""
    asked = await ctx.embed(work[:WORK_LETTERS]) if work and ctx.index is not None else None
    if asked is None or ctx.index is None:
        return set()
    vectors = await ctx.index.vectors(ids)
    return {number for number, vector in vectors.items() if float(vector @ asked) < NEAR_WORK}
