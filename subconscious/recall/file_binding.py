"""Computes how relevant a memory is to a file that a tool is used on, independently of other memories.

Memories name files in several ways: by the whole path in a checkout that may have moved since, by the path within the
repository, by its last two parts, or by the bare name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from subconscious.domain.model import Memory, Origin
from subconscious.text.folders import folders_in, is_wide, restricts
from subconscious.text.terms import stem, terms

EXACT = 0.95
PARTLY = 0.85
"""The relevance if one path ends with the other and the shorter path has at least two parts."""
NAMED = 0.7
"""The relevance of a bare file name that few projects have."""
COMMON = 0.35
"""The relevance of a bare file name that most projects have. Words shared with the tool call raise COMMON and NAMED."""
A_WORD, MOST_WORDS = 0.1, 3
IN_PASSING, MANY_FILES = 0.8, 3
"""The factor for a memory that lists more than MANY_FILES files and does not name the file in its text.

Long lists contain every file that the session changed around the time of the statement.
"""

FOLDER = 0.85
"""The relevance of a user's statement that names a folder to the files in it; EXACT if it restricts work on them."""

COMMON_NAMES = frozenset(
    "__init__ __main__ agents app base cargo changelog ci claude client common config conftest constants"
    " contributing copilot-instructions core dockerfile errors go helpers index init lib license main makefile mod"
    " models package pyproject readme requirements server settings setup skill style styles test tests todo"
    " tsconfig types util utils views".split()
)


@dataclass(frozen=True, slots=True)
class Touched:
    """A file that a tool was used on: its path within its checkout, the checkout's root, words of the tool call.

    ``work`` is the prompt that the session works on, "" if unknown. ``changed`` is true if the tool changed the file;
    ``written`` is the text that it wrote. ``given`` is the path in the checkout by which the tool named the file, if a
    link leads from it to ``path``.
    """

    path: str
    root: str = ""
    words: str = ""
    work: str = ""
    changed: bool = False
    written: str = ""
    given: str = ""

    @property
    def name(self) -> str:
        """Return the file's name without its folders."""
        return PurePosixPath(self.path).name


def bond(memory: Memory, touched: Touched) -> float:
    """Return the relevance of a memory to a file, 0 to 1, by the best match of the names in the memory."""
    return max(_named_bond(memory, touched), folder_bond(memory, touched))


def folder_bond(memory: Memory, touched: Touched) -> float:
    """Return the relevance of a user's statement to the files in a folder that it names; 0.0 for all other files.

    A folder such as `src`, in which most files lie, counts only if the statement restricts work on it ("never",
    "only", "belongs to").
    """
    if memory.origin is not Origin.USER:
        return 0.0
    paths = filter(None, (touched.path, touched.given))
    places = [(path, folder) for path in paths for folder in folders_in(memory.content)]
    found = [within for path, folder in places if (within := folder.contains(path, touched.root))]
    if not found:
        return 0.0
    if restricts(memory.content):
        return EXACT
    return 0.0 if all(is_wide(within, touched.root) for within in found) else FOLDER


def _named_bond(memory: Memory, touched: Touched) -> float:
    named = [*memory.files, *_mentions(memory.content, touched.name)]
    best = max((_match(name, touched) for name in named), default=0.0)
    if not best:
        return 0.0
    if best <= NAMED:
        best += A_WORD * min(MOST_WORDS, _shared(memory, touched))
    passing = len(memory.files) > MANY_FILES and touched.name not in memory.content
    return min(EXACT, best) * (IN_PASSING if passing else 1.0)


def _match(named: str, touched: Touched) -> float:
    """Return the relevance, 0 to 1, of one file name in a memory to the file."""
    bare = re.sub(r":\d+(?:[:-]\d+)?$", "", named.replace("\\", "/")).removeprefix("./")
    if touched.root and bare.startswith(f"{touched.root}/"):
        return EXACT if bare == f"{touched.root}/{touched.path}" else 0.0
    parts, own = [part for part in bare.split("/") if part], touched.path.split("/")
    if not parts or parts[-1] != own[-1]:
        return 0.0
    if len(parts) == 1 or (len(own) == 1 < len(parts) and bare.startswith("/")):
        return COMMON if PurePosixPath(own[-1]).stem.casefold() in COMMON_NAMES else NAMED
    if parts == own or (bare.startswith("/") and parts[-len(own) :] == own):
        return EXACT
    short = min(len(parts), len(own))
    return PARTLY if short > 1 and parts[-short:] == own[-short:] else 0.0


def _mentions(text: str, name: str) -> list[str]:
    """Return the paths in a text that end with the file name ``name``."""
    return (
        re.findall(rf"(?<![\w./-])(?:[\w.@+-]{{0,100}}/){{0,20}}{re.escape(name)}(?!\w|\.\w)", text)
        if name in text
        else []
    )


def _shared(memory: Memory, touched: Touched) -> int:
    """Return how many words a memory shares with the file's folders and the tool call, without the file's own name."""
    own = {stem(word) for word in terms(touched.name)}
    folders = touched.path.rpartition("/")[0]
    asked = {stem(word) for word in terms(f"{folders} {touched.words}")} - own
    words = {stem(word) for word in re.findall(r"\w+", f"{memory.content} {memory.rationale}".casefold())}
    return len(asked & words)
