"""Makes the texts in the answers of MCP tools harmless, and marks the answers as quoted data.

In a harmless text, nothing can act as a client's tag or a speaker's name (see `subconscious.text.quoting`). The marks
before and after an answer, its frame, show the model that the answer is data and contains no instructions.
A client may pass the structured answer, the text, or both to the model, so both are framed. Transcripts are read
without framed passages, so an answer is never learned as a new statement.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from subconscious.text.quoting import CLOSING, OPENING, quote

OPENS, CLOSES = "note", "end"
"""The first and the last field of every structured answer."""


def framed(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer with its texts made harmless, between the opening and the closing of the frame."""
    return {OPENS: OPENING.rstrip(), **harmless(answer), CLOSES: CLOSING}


def harmless(value: Any) -> Any:
    """Return the value with every text in it made harmless."""
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, Mapping):
        return {name: harmless(inner) for name, inner in value.items()}
    return [harmless(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def as_text(structured: Mapping[str, Any]) -> str:
    """Return a framed answer as text, for clients that show text."""
    inner = {name: value for name, value in structured.items() if name not in (OPENS, CLOSES)}
    return "\n".join((structured[OPENS], *_lines(inner), structured[CLOSES]))


def _lines(value: Any, depth: int = 0) -> Iterator[str]:
    indent = "  " * depth
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if _is_nested(inner):
                yield f"{indent}{name}:"
                yield from _lines(inner, depth + 1)
            else:
                yield f"{indent}{name}: {_plain(inner)}"
    else:
        for inner in value:
            first, *rest = [line[2 * depth + 2 :] for line in _lines(inner, depth + 1)]
            yield f"{indent}- {first}"
            yield from (f"{indent}  {line}" for line in rest)


def _is_nested(value: Any) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, list) and any(isinstance(one, Mapping) for one in value))


def _plain(value: Any) -> str:
    return ", ".join(map(str, value)) or "none" if isinstance(value, list) else str(value)
