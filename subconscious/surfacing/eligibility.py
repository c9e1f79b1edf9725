"""Decides which memories a session may receive without asking for them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence

from subconscious.capture.draft import PRACTISED
from subconscious.claude_files.known_statements import NO_STATEMENTS
from subconscious.domain.hits import Hit
from subconscious.domain.model import Memory, Origin
from subconscious.recall.marks import WorktreeState
from subconscious.recall.recall_context import RecallContext
from subconscious.recall.understanding import ParsedQuery
from subconscious.sessions import MAIN_BRANCHES
from subconscious.store import memories, responses
from subconscious.store.connect import Database
from subconscious.store.filters import Filter
from subconscious.store.responses import Responses
from subconscious.supersession.retirement import holding_hits
from subconscious.surfacing.bound import is_repair
from subconscious.surfacing.portfolio import MOST_UNHEEDED, is_rule
from subconscious.text.branch_scope import branch_of
from subconscious.text.terms import STOP_WORDS
from subconscious.text.vocabulary import IMPERATIVES

_LASTS = re.compile(
    r"\b(?:always|never|every ?time|whenever|wherever|from now on|in future|must|no longer|prefer|convention"
    r"|policy|don['\u2019]?t|do not|(?:should|shall|may) not|shouldn['\u2019]?t"
    r"|immer|nie|niemals|jede[rsn]?|siempre|nunca|toujours|jamais)\b",
    re.IGNORECASE,
)
"""Words that show that a statement is valid beyond the current task."""

MOST_UNHEEDED_REPAIRS, MOST_PATIENCE = 2, 3
"""A repair (how a failed check was fixed) is no longer shown after this many sessions without a response.

Each earlier response adds one session, up to MOST_PATIENCE: in some projects every second session needs the repair, in
others few do.
"""

MOST_FOLLOWED = 12
"""After this many sessions that changed files but did not respond to a standing rule, the rule is no longer shown."""

STATED_WORDS = 12
"""The number of a memory's first words that are looked for in a prompt: capture may have added the later ones."""

_WORD = re.compile(r"\w+")
_PARTS = re.compile(r"[^\W_]+")

_ANSWERS = "(asked: "
"""The words that capture writes before the question that a statement answers."""

_FOR_THE_TASK = re.compile(
    r"\A\W*(?:(?:ok|okay|and|so|but|also|now|then|yes|no)\W+)*"
    r"(?:let['\u2019]?s|let us|we (?:should|(?:need|have) to)|(?:can|could) (?:you|we)|please|i want"
    r"|i(?:['\u2019]d| would) like|for (?:this|the) (?:pr|task|branch|change|feature))\b|\bthe new\b|\(asked: "
    r"|\bthis (?:is|was|has|can|could|will|would|should|does|won['\u2019]?t|isn['\u2019]?t|doesn['\u2019]?t)\b",
    re.IGNORECASE,
)
"""Wordings of a wish about the current task, or of something that the speaker pointed at."""


_DELIVERS = re.compile(
    r"\b(?:commit(?:s|ting|ted)?|(?:force-?)?push(?:es|ing|ed)?|pull requests?|merge requests?|PRs?"
    r"|releas(?:e|es|ing|ed)|deploy\w{0,8})\b",
    re.IGNORECASE,
)
"""Steps by which work is delivered."""

_CHECKS = re.compile(
    r"\b(?:run|runs|running|test|tests|testing|lint|linter|linting|format|formatting|build|builds|building|start|install"
    r"|migrat\w+|benchmarks?)\b",
    re.IGNORECASE,
)
"""Steps that check, build or run code. Only a rule that names a command says how to take such a step."""

_COMMAND = re.compile(
    r"`[\w./-]+ [^`\n]+`|(?<!\S)\./\w|(?<!\S)[\w./-]{2,40} --?[a-z][\w-]*"
    r"|\b(?:run|tests?|lint)\b[^.;\n]{0,30} (?:with|w/?|via|thru|through|using|mit|per|avec|con) ",
    re.IGNORECASE,
)
"""A command: a quoted text of several words, a script, a word with an option, or words that say what runs the tests."""


_THIS_BRANCH = re.compile(
    r"\b(?:for|on|in) this (?:branch|pr|pull request|feature)\b"
    r"|(?:\A|[.;]\s)\W*this (?:branch|pr|pull request|feature)(?: only\b|\s*:)"
    r"|\b(?:f\u00fcr|auf|in) diese[mnrs]? (?:branch|pr|feature)\b"
    r"|\b(?:pour|sur|dans) (?:cette|ce) (?:branche|pr)\b"
    r"|\b(?:(?:para|en|per|su) (?:est[ae]|quest[oa])|nest[ae]) (?:rama|branch|pr)\b",
    re.IGNORECASE,
)
"""A reference to the branch on which a rule was stated."""

_FOR_WORK = re.compile(
    r"(?=\b(?:for|during|in|on|the|f\u00fcr|w\u00e4hrend|bei|der|die|den|dem) ((?:[\w-]{1,40} )?[\w-]{1,40})[ -]"
    r"(?:work(?! (?:as|in|like|on|with)\b)|branch|feature|refactor(?:ing)?|migration|rewrite|arbeit(?:en)?|umbau)\b"
    r"|\b(?:the (?:work|branch|refactor(?:ing)?|migration|rewrite)|travail|branche|trabajo|rama|trabalho|lavoro|arbeit"
    r"|umbau) (?:(?:on|for|of|sur|de|du|la|le|en|sobre|em|no|na|su|del|an|am|der|des) ){0,2}([\w-]{1,40}))"
)
"""The words that name the work that a statement, in lower case, is for."""

_GENERAL_PARTS = frozenset(
    "feature features feat fix fixes bugfix hotfix chore task refactor docs test tests dev wip release the and new for"
    " add update improve remove".split()
).union(STOP_WORDS)
"""Parts of branch names that do not name the work."""


def unasked(text: str) -> ParsedQuery:
    """Return the query of a proactive search. It does not match Claude's own notes, which the client loads itself."""
    return ParsedQuery(text, Filter(notes=False))


async def told_elsewhere(ctx: RecallContext, hits: Sequence[Hit]) -> dict[int, str]:
    """Return, by memory id, the file that already says what the memory says.

    Only files that the client always loads count. Memories that no such file contains are left out.
    """
    if ctx.client_texts is NO_STATEMENTS or not hits:
        return {}
    sources = await asyncio.to_thread(
        lambda: {hit.memory.id: ctx.client_texts.told(hit.memory.content) for hit in hits}
    )
    return {number: source for number, source in sources.items() if source}


def is_finding(memory: Memory) -> bool:
    """Whether a memory was found by a session, and neither stated nor confirmed by a person."""
    return memory.origin is not Origin.USER and not memory.verified and not memory.pinned


def is_for_one_task(memory: Memory) -> bool:
    """Whether a user's statement was for one task: a wish or a reply without a word such as "always"."""
    settled = memory.pinned or memory.verified or memory.recurrence > 1 or memory.origin is not Origin.USER
    said = memory.content.partition(_ANSWERS)[0]  # the question may contain such words, too
    return not settled and bool(_FOR_THE_TASK.search(memory.content)) and not _LASTS.search(said)


def is_standing(memory: Memory) -> bool:
    """Whether a user's rule applies to all work, unlike a correction about one thing.

    A preference always applies to all work. A lesson does so if it gives an instruction, has a word such as "always",
    was repeated, or was confirmed by a person.
    """
    settled = memory.pinned or memory.verified or memory.recurrence > 1
    first = _WORD.search(memory.content.casefold())
    instructs = first is not None and first[0] in IMPERATIVES
    return memory.kind != "lesson" or settled or instructs or bool(_LASTS.search(memory.content))


def step_order(memory: Memory) -> int:
    """Return 0 for a rule with the command of a step that most sessions take, 1 for another about a step, 2 for others.

    Such steps are to test, lint, build, commit, deploy.
    """
    said = memory.content.partition(_ANSWERS)[0]
    delivers = bool(_DELIVERS.search(said))
    if _COMMAND.search(said) and (delivers or _CHECKS.search(said)):
        return 0
    return 1 if delivers else 2


def is_fact(memory: Memory) -> bool:
    """Whether a memory only states a fact: the user stated it once, not as an instruction, and nobody confirmed it."""
    settled = memory.pinned or memory.verified or memory.recurrence > 1
    stated = memory.kind == "learning" or (memory.kind == "lesson" and not is_standing(memory))
    return stated and memory.origin is Origin.USER and not settled


def is_for_its_branch(memory: Memory) -> bool:
    """Whether a user's statement is about the work on the branch on which it was stated.

    It names this branch ("on this branch"), the branch's full name, or a part of the name with a word for work: "for
    the perf work", on the branch "perf". Without such a word, the part may be any subject: "use UTC for dates".
    """
    if memory.pinned or memory.branch in MAIN_BRANCHES or memory.origin is not Origin.USER:
        return False
    if branch_of(memory.content):
        return True
    said = memory.content.partition(_ANSWERS)[0].casefold()
    name = memory.branch.rpartition("/")[2].casefold()
    pieces = _PARTS.findall(name)
    full = rf"(?<![\w-]){re.escape(name)}(?![\w-])"
    if _THIS_BRANCH.search(said) or (len(pieces) > 1 and re.search(full, said)):
        return True
    parts = {piece for piece in pieces if len(piece) > 2 and piece not in _GENERAL_PARTS}
    named = {part for found in _FOR_WORK.findall(said) for part in _PARTS.findall(" ".join(found))}
    return not named.isdisjoint(parts)


def is_of_another_branch(memory: Memory, branch: str, state: WorktreeState) -> bool:
    """Whether a user's statement names at its beginning the branch that it is for, and ``branch`` is another branch.

    False if the branch was only renamed to ``branch``, or if ``branch`` is "" (unknown, as during a rebase).
    """
    own = branch_of(memory.content) if memory.origin is Origin.USER and not memory.pinned else ""
    return bool(branch) and own not in ("", branch) and (memory.id, branch) not in state.renamed


def is_stated_in(prompt: str, memory: Memory) -> bool:
    """Whether a prompt contains the first words of a memory, because the user repeats the statement."""
    stated = _WORD.findall(memory.content.casefold())[:STATED_WORDS]
    typed = " ".join(_WORD.findall(prompt.casefold()))
    return bool(stated) and f" {' '.join(stated)} " in f" {typed} "


def is_heard(memory: Memory, known: Responses) -> bool:
    """Whether a memory may still be shown: it is pinned, or few sessions have received it without responding to it.

    Only sessions since the latest response count. For a habit, all ended sessions that received it count, because a
    session that follows the habit anyway shows no response. A session that follows a standing rule of the user, such as
    a ban, often shows no response either, so for these rules only sessions that changed files count, and the limit is
    higher (``MOST_FOLLOWED``).
    """
    if is_repair(memory):
        responses = known.used + known.repeated + known.violated
        return memory.pinned or known.unheeded < MOST_UNHEEDED_REPAIRS + min(MOST_PATIENCE, responses)
    if memory.extractor == PRACTISED:
        return memory.pinned or known.given < MOST_UNHEEDED
    if is_rule(memory) and is_standing(memory) and not is_for_one_task(memory):
        return memory.pinned or known.followed < MOST_FOLLOWED
    return memory.pinned or known.unheeded < MOST_UNHEEDED


async def paused(database: Database, ids: Sequence[int]) -> list[int]:
    """Return those ``ids`` whose memories are not shown at session starts, because sessions did not use them."""
    known = await responses.of_memories(database, ids)
    found = await memories.get_many(database, ids)
    return [one.id for one in found.values() if not is_heard(one, known.get(one.id, responses.NONE))]


def fits_a_start(memory: Memory, sure: float) -> bool:
    """Whether a memory may be shown at a session's start; findings of a single session may not.

    A finding is allowed if two sessions made it, a person confirmed it, or its confidence is at least ``sure``. Other
    findings may be shown with prompts and files.
    """
    return not is_finding(memory) or memory.recurrence > 1 or memory.confidence >= sure


async def fit_to_start(ctx: RecallContext, hits: Sequence[Hit], project_id: str) -> list[Hit]:
    """Return the hits that a session may start with: in force, certain enough, and not stated in loaded files."""
    sure = [hit for hit in hits if fits_a_start(hit.memory, ctx.settings.auto_threshold)]
    in_force = await holding_hits(ctx, sure, project_id)
    elsewhere = await told_elsewhere(ctx, in_force)
    return [hit for hit in in_force if hit.memory.id not in elsewhere]
