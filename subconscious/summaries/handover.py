"""What a session leaves to the next one: asked, done, decided, failed, open, and the assistant's closing report.

Everything is quoted from the session's record. The user's words and the deeds come from the transcript's structure. The
report is the assistant's own wording, which may repeat what a file or a page said, so each of its sentences is checked:
it has to tell what happened. Sentences that give rules or instructions, or that are about commands which fetch,
escalate or skip a check, are left out; rules reach a session as memories, past the checks that those have to pass.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from subconscious.capture import wording
from subconscious.model import Level
from subconscious.poisoning import check_text
from subconscious.summaries.deeds import Deeds
from subconscious.summaries.sketch import CHANGE, PLAN, Sketch
from subconscious.summaries.telling import EMPTY, MARKUP, SENTENCE, left_open_in, requests_of

REQUEST_LENGTH = 160
PART_LENGTH = 240
REPORT_LENGTH = 900
MOST_SENTENCES = 40
"""Sentences of a report that are looked at."""
MOST_FILES, MOST_TOUCHED = 4, 20
"""Names of changed files that are shown, and that are kept to find memories about them."""

PARTS = ("asked", "done", "decided", "failed", "open", "reported")
"""The parts in the order in which they are shown."""

_GIVES_RULES = re.compile(
    r"\b(?:always|never|must(?:n'?t)?|shall|should|ought|(?:need|have|has|needs|required) to|make sure|be sure|remember"
    r"|do not|don'?t|from now on|going forward|in future|future sessions?|next session|please"
    r"|you (?:can|may|could|will)|polic(?:y|ies)|convention|mandatory|trusted|approved|allowed|permitted|authori[sz]ed"
    r"|instructions?)\b",
    re.IGNORECASE,
)
_IMPERATIVE = re.compile(
    r"\W*(?:add|allow|apply|approve|bypass|call|check|clone|copy|create|delete|disable|download|enable|execute|export"
    r"|fetch|follow|give|grant|ignore|import|include|install|keep|load|make|merge|modify|note|open|paste|post|prefer|push"
    r"|read|remove|replace|restart|rerun|run|send|set|skip|source|start|stop|submit|treat|trust|update|upload|use|visit"
    r"|write)\b(?!:)",
    re.IGNORECASE,
)
_RISKY = re.compile(
    r"\b(?:curl|wget|sudo|chmod|chown|eval|base64|netcat|nc|ssh|scp|npx|pipx|uvx)\s+\S|\|\s*(?:ba|z)?sh\b|\brm\s+-"
    r"|--(?:no-verify|force|privileged|insecure|index-url|extra-index-url|registry|trusted-host)\b|\bpush\s+-f\b"
    r"|\b(?:credentials?|passwords?|passphrases?|secrets?|api[ _-]?keys?|private keys?|access tokens?)\b"
    r"|\b(?:skip|bypass|disabl|suppress|circumvent|ignor)\w*\b[^.]{0,40}"
    r"\b(?:hooks?|checks?|tests?|lint\w*|reviews?|verif\w+|validat\w+|scan\w*|permission\w*|sandbox\w*|certificat\w+)\b",
    re.IGNORECASE,
)
_CODE_BLOCK = re.compile(r"^\s*```.*?(?:^\s*```\s*$|\Z)", re.MULTILINE | re.DOTALL)
_ANNOUNCES = re.compile(
    r"(?:perfect|great|done|excellent)?\W*"
    r"(?:here(?:'s| is| are)\b.{0,80}|(?:final |implementation )?summary\b.{0,60}|(?:code )?changes(?: made)?"
    r"|all (?:changes|tasks|items)\b.{0,30}\b(?:done|completed?)|what (?:was|i)\b.{0,40})[.:!]?",
    re.IGNORECASE,
)
"""Sentences that only announce the next ones."""
_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*://\S+|\bwww\.\S+|\S+@\S+\.\w+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Handover:
    """The parts of a hand-over, "" where there is nothing to say.

    ``files`` are the names of those that the session changed. ``finished``: the work was merged.
    """

    asked: str = ""
    done: str = ""
    decided: str = ""
    failed: str = ""
    open: str = ""
    reported: str = ""
    files: tuple[str, ...] = ()
    finished: bool = False

    def parts(self) -> Iterator[tuple[str, str]]:
        """The parts that say something, by name."""
        return ((name, text) for name in PARTS if (text := getattr(self, name)))

    def to_json(self) -> str:
        """Return the hand-over as it is stored; "" for an empty one."""
        said: dict[str, object] = dict(self.parts())
        if not said:
            return ""
        marks: dict[str, object] = {"files": list(self.files), "finished": self.finished}
        return json.dumps(said | {name: mark for name, mark in marks.items() if mark}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Handover:
        """Read what ``to_json`` returned; anything else is an empty hand-over."""
        try:
            said = json.loads(text or "{}")
        except ValueError:
            return cls()
        if not isinstance(said, Mapping):
            return cls()
        parts = {name: said[name] for name in PARTS if isinstance(said.get(name), str)}
        files = said.get("files")
        names = tuple(name for name in files if isinstance(name, str)) if isinstance(files, list) else ()
        return cls(**parts, files=names, finished=said.get("finished") is True)


def handover_of(sketch: Sketch) -> Handover:
    """Write the hand-over of a session from its sketch."""
    if not sketch.asks and not sketch.plan:
        return Handover()
    open_points = [point for point in left_open_in(sketch) if not _RISKY.search(point)]
    return Handover(
        asked=_harmless(_asked(sketch)),
        done=_harmless(_done(sketch)),
        decided=_harmless(_quoted(sketch.decided[-3:], PART_LENGTH // 2)),
        failed=_harmless(_failed(sketch.deeds)),
        open=_harmless(wording.shorten("; ".join(open_points), PART_LENGTH)),
        reported=_reported(sketch),
        files=tuple(_changed(sketch)[:MOST_TOUCHED]),
        finished=sketch.deeds.merged,
    )


def _harmless(text: str) -> str:
    return "" if check_text(text).level.rank >= Level.MEDIUM.rank else text


def _asked(sketch: Sketch) -> str:
    asks = [ask for ask in requests_of(sketch) if not (sketch.plan and ask.startswith(PLAN.rstrip(":")))]
    return _quoted(dict.fromkeys(asks[:1] + asks[-1:]), REQUEST_LENGTH)


def _quoted(texts: Iterable[str], length: int) -> str:
    said = (wording.shorten(wording.squeeze(text), length).replace('"', "'") for text in texts)
    return ", ".join(f'"{text}"' for text in said)


def _done(sketch: Sketch) -> str:
    deeds = sketch.deeds
    commits = [f'commit "{wording.shorten(subject, 90)}"' for subject in deeds.commits[-2:]]
    pulls = [f"pull request {', '.join(deeds.pulls)}"] if deeds.pulls else []
    changed = _changed(sketch)[:MOST_FILES]
    files = [f"changed {', '.join(changed)}"] if changed else []
    return wording.shorten("; ".join([*commits, *pulls, *files]), PART_LENGTH)


def _changed(sketch: Sketch) -> list[str]:
    """The names of the files that were changed, the most worked on first."""
    ranked = sorted(sketch.files.items(), key=lambda pair: -pair[1])
    return [name for name, weight in ranked if weight >= CHANGE]


def _failed(deeds: Deeds) -> str:
    command = re.split(r"\s*(?:<<|\"\$\(|\d?>)", deeds.failed, maxsplit=1)[0]  # without what is fed to it or redirected
    return f"`{wording.shorten(command, 100)}`" if command and not _RISKY.search(command) else ""


def _reported(sketch: Sketch) -> str:
    """What the assistant reported: its latest answer, behind an earlier report where that one is short."""
    closing = sketch.answer if sketch.finished else ""
    texts = dict.fromkeys(filter(None, (sketch.latest_report, closing)))
    return wording.shorten(" ".join(" ".join(report_sentences(text)) for text in texts), REPORT_LENGTH)


def report_sentences(answer: str) -> Iterator[str]:
    """The sentences of an answer that tell what happened, in their order."""
    for raw in SENTENCE.split(_CODE_BLOCK.sub("\n", answer))[:MOST_SENTENCES]:
        sentence = _ADDRESS.sub("[link]", wording.squeeze(MARKUP.sub("", raw)))
        if not (EMPTY.fullmatch(sentence) or _ANNOUNCES.fullmatch(sentence)) and _tells(sentence):
            yield sentence


@lru_cache(maxsize=2000)
def _tells(sentence: str) -> bool:
    """Whether a sentence only tells what happened. Cached: a session is told anew after each of its turns."""
    if _GIVES_RULES.search(sentence) or _IMPERATIVE.match(sentence) or _RISKY.search(sentence):
        return False
    return check_text(sentence).level is Level.NONE
