"""Finds the folders and paths that a text names. Does no I/O; the folders need not exist.

A folder is named by a path (`templates/legacy`, `vendor/`), or by a name beside the word "folder", also in other
languages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from subconscious.text.function_words import FUNCTION_WORDS
from subconscious.text.terms import STOP_WORDS

LETTERS = 4000
"""The maximum number of characters of a text that are examined."""

MOST_PARTS, LONGEST = 20, 300
"""The most parts and characters of a path."""

WIDE = frozenset(
    "src source sources lib libs app apps test tests spec specs pkg pkgs packages internal cmd main java kotlin python"
    " backend frontend server client web api project repo".split()
)
"""Folders that contain most files of many projects."""

_BRACKETED = r"(?:\([\w.@+-]{1,60}\)|\[{1,2}[\w.@+-]{1,60}\]{1,2})"
"""A folder name in brackets, such as "(admin)" or "[id]", which some web frameworks use."""

_RUN = re.compile(
    rf"(?:[^\s`\"'\u2018-\u201f\u00ab\u00bb(),;|\[\]]|(?<=/){_BRACKETED}(?=[/\s`\"'\u2019\u201d\u201c.,;:!?]|\Z))+"
)
_UNSPACED = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uff00-\uffef]+")
"""Chinese, Japanese and Korean text, which often touches a path without a space."""

_PART = re.compile(rf"[\w.@+ -]{{1,100}}|{_BRACKETED}")
_FILE = re.compile(r".+\.[A-Za-z]\w{0,9}")
_LINE = re.compile(r"(?::\d+(?:[:-]\d+)?)?[.:!?\u2026]*\Z")
_ENDING = re.compile(r"(?:/?\*{1,2})+\Z|-(?:ordner|verzeichnis|folder|directory|dir)\Z", re.IGNORECASE)

_NAME = r"[`\"'\u201c\u201e]?([\w.@+-]{2,60})[`\"'\u201d\u201c]?"
_WORDS = (
    r"(?:folders?|directory|dir|ordner|verzeichnis|carpeta|directorio|dossier|r[ée]pertoire|cartella|pasta"
    r"|diret[óo]rio|папк\w+|каталог\w*)"
)
_NAME_FIRST = re.compile(
    rf"(?<![\w./]){_NAME}[ -](?:folders?|director(?:y|ies)|dirs?|ordner\w?|verzeichnis\w{{0,3}})\b"
    r"|([A-Za-z0-9_.@+-]{2,60})[`\"]? ?(?:目录|文件夹|資料夾|フォルダ|ディレクトリ|폴더)",
    re.IGNORECASE,
)
_WORD_FIRST = re.compile(rf"\b{_WORDS} {_NAME}(?![\w/])", re.IGNORECASE)

_NEW = re.compile(
    r"\b(?:an?|any|new|every|each|kein\w*|neue\w*|eine?[nrms]?|jede[nrms]?|un[ae]?|uma?|nuev\w+|nuov\w+|nouveaux?|nov[ao]s?)"
    r"[ -]\Z",
    re.IGNORECASE,
)
"""The words before a word for folders, "a new folder", that show that no name follows it."""

_NO_NAMES = FUNCTION_WORDS.union(
    STOP_WORDS,
    """home clean tidy flat intact alone sorted consistent itself recursively manually sauber ordentlich limpia limpo
    propre pulita
    add any anything ask asking belongs change changes contain contains create current different directories each
    empty entire every everything existing folder folders following given has holds is know move named names
    necessary needed never new next nobody nothing one other parent read-only relative remove root same separate
    single structure subfolder top two unless untouched want whole within without working wrong
    aktuell aktuellen alten andere anderen anlegen anfassen aktuelle bearbeiten eigene eigenen einen enthält erstellen
    gehört gleiche gleichen kein keine keinem keinen leere leeren löschen neu neue neuem neuen neuer nie niemals niemand
    nichts selben struktur umbenennen verschieben ändern
    actual aparte contiene crear nada nueva nuevas nuevo nuevos nunca otra pertenece tocar vacía
    actuel appartient contient créer jamais nouveau nouveaux nouvelle rien racine vide
    appartiene contiene creare nuova nuove nuovo vuota
    apenas atual contém criar nova novas novo novos pertence vazia
    alleen nieuw nieuwe nooit""".split(),
)
"""Adjectives, verbs and function words beside a word for folders, which are no names of folders."""

_RESTRICTS = re.compile(
    r"\b(?:don'?t|do not|(?:should|must|may|shall)(?:n'?t| not)|never|no|not|nobody|nothing|without|avoid|ask|stop|"
    r"only|read.?only|generated|vendored|frozen|locked|forbidden|off.?limits|hands off|leave\b.{1,60}\balone|owned|"
    r"owns|belongs?|nicht|nichts|niemand|tabu|nie(?:mals)?|kein\w*|nur|finger weg|generiert\w*|gehört|nunca|nadie|"
    r"banned|prohibited|verboten|gesperrt|prohibid\w+|proibid\w+|interdit\w*|vietat\w|verboden|"
    r"nada|s[óo]lo|solamente|generad\w+|pertenece|jamais|pas|rien|personne|lecture seule|seulement|uniquement|"
    r"généré\w*|appartient|mai|non|soltanto|generat[oaie]|appartiene|n[ãa]o|ningu[ée]m|apenas|gerad[oa]s?|pertence|"
    r"niet|nooit|alleen|gegenereerd|nie|tylko|не|никогда|только|нельзя)\b"
    r"|不要|不许|不能|请勿|勿|禁止|只|生成|しないで|変更しない|触らない|だけ|마세요|말고|금지",
    re.IGNORECASE,
)
"""Words of a statement that forbids or restricts work on files, or says who or what is responsible for them."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that a text names: the parts of its path, in lower case.

    ``absolute``: the path began with "/". ``rooted``: it began with "./", so it is meant from the checkout's root.
    """

    parts: tuple[str, ...]
    absolute: bool = False
    rooted: bool = False

    def contains(self, path: str, root: str = "") -> tuple[str, ...]:
        """Return this folder's parts within the checkout at ``root`` if ``path`` is the folder, or in it; otherwise ().

        ``path`` is a path within the checkout. A relative folder may be at any depth, and may begin with the name of
        the checkout.
        """
        above = tuple(part for part in root.casefold().split("/") if part)
        parts, own = self.parts, tuple(path.casefold().split("/"))
        if self.absolute and (*above, *own)[: len(parts)] == parts and len(parts) > len(above):
            return parts[len(above) :]
        if self.absolute or self.rooted:
            sizes = range(len(parts), 0, -1) if self.absolute else (len(parts),)
            # A checkout that has been moved: the path ends with that of the folder in the checkout.
            ends = (parts[-size:] for size in sizes if size > 1 or size == len(parts))
            return next((end for end in ends if own[: len(end)] == end), ())
        named = (*above[-1:], *own)
        begins = range(len(named) - len(parts) + 1)
        found = any(named[at : at + len(parts)] == parts and at + len(parts) > len(above[-1:]) for at in begins)
        return parts if found else ()


def is_wide(parts: Sequence[str], root: str = "") -> bool:
    """Whether most files of a project are probably in a folder: `src`, or `src/shop` in the checkout `shop`."""
    name = root.casefold().rstrip("/").rpartition("/")[2]
    return all(part in WIDE or part.replace("_", "-") == name.replace("_", "-") for part in parts)


def restricts(text: str) -> bool:
    """Whether a statement forbids or restricts something, or says who or what is responsible."""
    return bool(_RESTRICTS.search(text[:LETTERS].replace("\u2019", "'")))


@lru_cache(maxsize=2000)
def folders_in(text: str) -> tuple[Folder, ...]:
    """Return the folders that a text names, without paths that end with a file's name."""
    return tuple(dict.fromkeys(_folders(text[:LETTERS])))


def _folders(text: str) -> Iterator[Folder]:
    for run in _paths(text):
        absolute, rooted = run.startswith(("/", "~/")), run.startswith("./")
        parts = _parts(run)
        is_file = not run.endswith("/") and bool(parts) and bool(_FILE.fullmatch(parts[-1]))
        if parts and not is_file and (len(parts) > 1 or run.endswith("/") or absolute or rooted):
            yield Folder(parts, absolute, rooted)
    after = (one for one in _WORD_FIRST.finditer(text) if not _NEW.search(text[max(0, one.start() - 20) : one.start()]))
    for found in (*_NAME_FIRST.finditer(text), *after):
        name = next(filter(None, found.groups())).casefold().rstrip(".")  # the end of a sentence
        if name and name.strip(".") not in _NO_NAMES and not _FILE.fullmatch(name):
            yield Folder((name,))


def paths_in(text: str, root: str) -> list[str]:
    """Return the paths and the names of files and folders in a text, without paths outside the folder ``root``."""
    text = text[:LETTERS]
    files = (name for run in _RUN.findall(text) if _FILE.fullmatch(name := _LINE.sub("", run.lstrip("@"))))
    named = (folder.parts[0] for folder in folders_in(text) if len(folder.parts) == 1)
    found = (*_paths(text), *files, *named)
    inside = (path.removeprefix(f"{root.rstrip('/')}/").removeprefix("./") for path in found)
    return list(dict.fromkeys(path.rstrip("/") for path in inside if _parts(path) and path[0] not in "/~"))


def _paths(text: str) -> Iterator[str]:
    """Yield the words of a text that contain a slash, except URLs; line numbers and wildcards at their end are removed.

    A leading "@" may mark a mention, or be part of a folder's name (`@scope/package/`): folders are yielded both ways.
    """
    for run in _RUN.findall(text.replace("\\", "/")):
        if "/" not in run or "://" in run or len(run) > LONGEST:
            continue
        for one in dict.fromkeys((run, *_UNSPACED.split(run))):
            bare = _LINE.sub("", one)
            bare = _ENDING.sub(lambda end: "/" if "*" in end[0] else "", bare)
            if "/" in bare:
                yield from dict.fromkeys((bare.lstrip("@"), bare if bare.endswith("/") else bare.lstrip("@")))


def _parts(path: str) -> tuple[str, ...]:
    """Return the parts of a path in lower case; () for a path that leaves its folder or has other than plain names."""
    parts = [part for part in path.removeprefix("~").removeprefix("./").casefold().split("/") if part]
    plain = all(_PART.fullmatch(part) and part.strip(".") for part in parts)
    return tuple(parts) if plain and len(parts) <= MOST_PARTS else ()
