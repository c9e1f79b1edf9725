"""The arguments of requests: one class for all, with limits, because any process may write to the socket."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from subconscious.domain.model import Origin, Scope

WORDY = 10_000
"""The most characters of a text argument."""

LONGEST_NAME = 200
MANY = 1000
"""The most items that one request may name; for paths, ten times as many, because a shell pattern may match many."""

Number = Annotated[int, Field(ge=0, lt=2**63)]
"""A number that fits into an SQLite integer column; if it is an id that does not exist, the store reports that."""

NO_NUL = r"^[^\x00]*$"
Name = Annotated[str, Field(max_length=LONGEST_NAME)]
FilePath = Annotated[str, Field(max_length=WORDY, pattern=NO_NUL)]


def _storable(text: object) -> object:
    """Return a text that can be stored: without NUL and lone surrogates."""
    return text.encode("utf-8", "replace").decode().replace("\0", "") if isinstance(text, str) else text


Words = Annotated[str, BeforeValidator(_storable)]


class Args(BaseModel):
    """The arguments of all requests; each request uses some of them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    cwd: str = Field(default="", max_length=WORDY, pattern=NO_NUL)
    text: Words = Field(default="", max_length=WORDY)
    query: Words = Field(default="", max_length=WORDY)
    origin: Origin = Origin.ASSISTANT
    kind: Name | None = None
    branch: Words | None = Field(default=None, max_length=1000)
    scope: Scope | None = None
    tags: tuple[Name, ...] = Field(default=(), max_length=MANY)
    transcript: str = Field(default="", max_length=WORDY, pattern=NO_NUL)
    paths: tuple[FilePath, ...] = Field(default=(), max_length=10 * MANY)
    vouched: bool = False
    with_model: bool = False
    tokens: int = Field(default=2000, ge=50, le=20_000)
    limit: int = Field(default=20, ge=1, le=1000)
    offset: Number = 0
    id: Number | None = None
    ids: tuple[Number, ...] = Field(default=(), max_length=MANY)
    status: Name | None = None
    session_id: Name | None = None
    archived: bool = False
    unconfirmed: bool = False
    everywhere: bool = False
    reason: Words = Field(default="", max_length=1000)
    timeout: float = Field(default=30.0, ge=0, le=600)
    version: Name = ""
    all: bool = False
    details: bool = False
    offered: bool = False
    check: bool = False
    digest: str = Field(default="", max_length=64)
    teach: bool = False
    preview: bool = False
    back: bool = False
    provider: Name = ""
