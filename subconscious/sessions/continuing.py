"""Decides whether a first prompt continues the work of the last session, whose whole hand-over is then shown.

On a main branch, nothing at the start of a session shows whether the next task is related to the last session. The
first prompt may show it: it says "continue", asks for the commit, or names the files, the branch or the subject of the
last session's work.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePath

from subconscious.recall.file_binding import COMMON_NAMES
from subconscious.recall.recall_context import RecallContext
from subconscious.sessions import MAIN_BRANCHES, PLAN, Handover
from subconscious.sessions.likeness import gist, likest
from subconscious.sessions.previous_session import Left, StartingPoint, left_behind
from subconscious.sessions.telling import is_routine
from subconscious.store import handovers

HANDED = "prompt/hand-over"
"""The event name that is recorded when a hand-over is shown with a prompt."""

LIKELY = 0.3
"""The minimum probability at which a prompt counts as being about the last session's work."""

COMPARED = 100
"""The number of latest sessions in which words are counted, to find the rare words."""

LATELY, FEW = 20, 2
"""The number of latest sessions in which changed files are counted (LATELY).

A file name identifies the last session's work if at most FEW, or a quarter, of these sessions changed the file.
"""

LONGEST = 400
"""The most characters of a prompt that are compared by meaning."""

SHORT = 12
"""The most words of a prompt that counts as a request to continue because it contains a word such as "continue"."""

SHORTEST_NAME = 5
"""The minimum number of characters of a file name for it to identify a file."""

_GOES_ON = re.compile(
    r"\b(?:continue|carry on|go on|keep going|resume|pick up|proceed"
    r"|where (?:were we|we left off|did we (?:stop|leave off))"
    r"|what(?:'s| is) (?:left|next|still open)|last time|yesterday|weiter(?:machen)?|mach(?:en wir)? weiter|fortsetzen"
    r"|contin[uú]a(?:r|mos)?|seguimos|continuer|continue[zr]|on continue)\b",
    re.IGNORECASE,
)


async def gone_on_with(ctx: RecallContext, place: StartingPoint, text: str) -> Left | None:
    """Return the last session if a first prompt continues its work and its hand-over may be shown; else None."""
    left = await left_behind(ctx, place)
    if left is None or not left.given:
        return None
    words = text.removeprefix(PLAN).strip()
    known = await handovers.finished_sessions(ctx.database, place.project_id, place.session_id, COMPARED)
    stories = {session.id: Handover.from_json(session.handover) for session in known}
    for one in left.records:
        if _says_so(words, one) or _names_a_file(words, one, list(stories.values())):
            return left
        if await _is_about(ctx, words, one, stories):
            return left
    return None


def _says_so(words: str, left: Left) -> bool:
    """Whether a prompt asks to continue, or names the branch of the last session."""
    if len(words.split()) <= SHORT and (_GOES_ON.search(words) or is_routine(words)):
        return True
    return left.session.branch not in MAIN_BRANCHES and left.session.branch in words


def _names_a_file(words: str, left: Left, stories: Sequence[Handover]) -> bool:
    """Whether a prompt names a file that the last session changed. A file that many sessions change does not count."""
    lately = stories[:LATELY]
    changed = Counter(file for story in lately for file in {*story.files})
    most = max(FEW, len(lately) // 4)
    return any(changed[file] <= most and _names(words, file) for file in left.handover.files)


def _names(words: str, file: str) -> bool:
    name = PurePath(file).name
    if PurePath(name).stem.casefold() in COMMON_NAMES:
        return False
    return len(name) >= SHORTEST_NAME and bool(re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", words))


async def _is_about(ctx: RecallContext, words: str, left: Left, stories: Mapping[str, Handover]) -> bool:
    """Whether a prompt is similar to the hand-over of the last session, by words and by meaning."""
    ids = list(stories)
    near = await asyncio.to_thread(likest, words, list(stories.values()), len(ids))
    its = next((one for one in near if ids[one.place] == left.session.id), None)
    if its is None or its.probability(1.0) < LIKELY:
        return False
    asked, story = await ctx.embed(words[:LONGEST]), await ctx.embed(gist(left.handover))
    return asked is not None and story is not None and its.probability(float(asked @ story)) >= LIKELY
