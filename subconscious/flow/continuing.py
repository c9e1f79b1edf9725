"""Whether a session's first prompt goes on with the work of the last session: only then it is handed over in full.

A start on a trunk can't tell whether the next task has to do with the last one. The first prompt can: it says "go on",
it asks for the commit, or it names the files, the branch or the subject of that work.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePath

from subconscious.flow.handover import Left, Place, left_behind
from subconscious.flow.mind import Mind
from subconscious.store import handovers
from subconscious.summaries import MAIN_BRANCHES, PLAN, Handover
from subconscious.summaries.likeness import gist, likest
from subconscious.summaries.telling import is_routine
from subconscious.surfacing.files import COMMON_NAMES

HANDED = "prompt/hand-over"
"""The event by which the last session is handed over with a prompt."""

LIKELY = 0.3
"""Probability from which a prompt is about the last session's work: that of any earlier session's story."""

COMPARED = 100
"""Sessions among which the words that tell a story apart are counted."""

LATELY, FEW = 20, 2
"""The latest sessions whose files are counted, and in how many of them a file always counts as theirs."""

LONGEST = 400
"""Characters of a prompt that are compared by meaning."""

SHORT = 12
"""Words of a prompt that may do nothing but go on."""

SHORTEST_NAME = 5
"""Letters of a file's name that a prompt must have to name the file."""

_GOES_ON = re.compile(
    r"\b(?:continue|carry on|go on|keep going|resume|pick up|proceed"
    r"|where (?:were we|we left off|did we (?:stop|leave off))"
    r"|what(?:'s| is) (?:left|next|still open)|last time|yesterday|weiter(?:machen)?|mach(?:en wir)? weiter|fortsetzen"
    r"|contin[uú]a(?:r|mos)?|seguimos|continuer|continue[zr]|on continue)\b",
    re.IGNORECASE,
)


async def gone_on_with(mind: Mind, place: Place, text: str) -> Left | None:
    """Return the last session if a first prompt goes on with its work and the session does not have its record."""
    left = await left_behind(mind, place)
    if left is None or not left.given:
        return None
    words = text.removeprefix(PLAN).strip()
    known = await handovers.finished(mind.database, place.project_id, place.session_id, COMPARED)
    stories = {session.id: Handover.from_json(session.handover) for session in known}
    if _says_so(words, left) or _names_a_file(words, left, list(stories.values())):
        return left
    return left if await _is_about(mind, words, left, stories) else None


def _says_so(words: str, left: Left) -> bool:
    """Whether a prompt goes on in so many words, or names the branch of that work."""
    if len(words.split()) <= SHORT and (_GOES_ON.search(words) or is_routine(words)):
        return True
    return left.session.branch not in MAIN_BRANCHES and left.session.branch in words


def _names_a_file(words: str, left: Left, stories: Sequence[Handover]) -> bool:
    """Whether a prompt names a file of that work; one that many sessions change is no sign of any of them."""
    lately = stories[:LATELY]
    changed = Counter(file for story in lately for file in {*story.files})
    most = max(FEW, len(lately) // 4)
    return any(changed[file] <= most and _names(words, file) for file in left.handover.files)


def _names(words: str, file: str) -> bool:
    name = PurePath(file).name
    if PurePath(name).stem.casefold() in COMMON_NAMES:
        return False
    return len(name) >= SHORTEST_NAME and bool(re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", words))


async def _is_about(mind: Mind, words: str, left: Left, stories: Mapping[str, Handover]) -> bool:
    """Whether a prompt is like the story of that session, by words and by meaning."""
    ids = list(stories)
    near = await asyncio.to_thread(likest, words, list(stories.values()), len(ids))
    its = next((one for one in near if ids[one.place] == left.session.id), None)
    if its is None or its.probability(1.0) < LIKELY:
        return False
    asked, story = await mind.embed(words[:LONGEST]), await mind.embed(gist(left.handover))
    return asked is not None and story is not None and its.probability(float(asked @ story)) >= LIKELY
