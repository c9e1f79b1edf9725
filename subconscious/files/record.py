"""The record of a memory in an export: its columns, its links by stable keys, and the store's signature.

The signature proves that this store wrote the record and that it is unchanged. Without it, a file could claim any
origin, confidence and status.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from subconscious.domain.kinds import KINDS
from subconscious.domain.model import Origin, Scope
from subconscious.system.safe_files import is_missing, read_regular, replace_file

VERSION = 1
"""The version of the record format; records of other versions are rejected."""

KEY_NAME = "export.key"
KEY_BYTES = 32

MOST_TEXT = 1_000_000
MOST_ITEMS = 1000

Key = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
Text = Annotated[str, Field(max_length=MOST_TEXT)]
Name = Annotated[str, Field(max_length=10_000)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Moment = Annotated[float, Field(ge=-1e12, le=1e12, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, le=2**53)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=False)


class Owner(_Part):
    """The project that a memory belongs to."""

    id: Name
    name: Name
    root: Name
    remote: Name = ""
    first_commit: Name = ""


class Fields(_Part):
    """The columns of a memory that have the same meaning in every store.

    They are part of the file format, with limits for values from files, and don't change along with ``domain.Memory``.
    """

    scope: Scope
    kind: Name
    category: Name
    summary: Text
    content: Text
    origin: Origin
    confidence: Share
    raw_confidence: Share
    extractor: Name
    created_at: Moment
    said_at: Moment
    rationale: Text = ""
    sentiment: Name = ""
    verified: bool = False
    pinned: bool = False
    recurrence: Count = 1
    uses: Count = 0
    last_used_at: Moment | None = None
    archived_at: Moment | None = None
    agent: Name = ""
    session_id: Name | None = None
    turn_id: Name = ""
    transcript: Name = ""
    evidence: Text = ""
    byte_start: Count = 0
    byte_end: Count = 0
    branch: Name = ""
    commit: Name = ""
    intent: Text = ""
    tags: tuple[Name, ...] = Field(default=(), max_length=MOST_ITEMS)
    files: tuple[Name, ...] = Field(default=(), max_length=MOST_ITEMS)
    unconfirmed: bool = False


RECORDED_COLUMNS = frozenset(Fields.model_fields)
"""The columns of a memory that a record contains."""


class Fading(_Part):
    """The values that determine how a memory fades."""

    importance: Name
    touched_at: Moment
    reset_at: Moment


class LinkTo(_Part):
    """A link from this memory to another."""

    target: Key
    type: Name
    status: Name
    confidence: Share
    created_by: Name
    evidence: Text = ""
    created_at: Moment


class CorrectedBy(_Part):
    """A person's correction of this memory; ``replacement`` is the key of the memory that replaces it, or None."""

    replacement: Key | None
    way: Name
    reason: Text = ""
    created_at: Moment


class MergedInto(_Part):
    """The memory that this one was merged into."""

    into: Key
    cosine: float
    merged_at: Moment
    undone_at: Moment | None


class Record(_Part):
    """A memory in an export. A memory that is purged and imported again keeps its ``uid``, but gets another ``id``."""

    version: int = VERSION
    uid: Key
    id: Count
    project: Owner | None
    memory: Fields
    waiting: bool = False
    """Whether the memory is unconfirmed and can still be confirmed."""
    fading: Fading | None = None
    links: tuple[LinkTo, ...] = Field(default=(), max_length=MOST_ITEMS)
    corrections: tuple[CorrectedBy, ...] = Field(default=(), max_length=MOST_ITEMS)
    merges: tuple[MergedInto, ...] = Field(default=(), max_length=MOST_ITEMS)
    signature: str = Field(default="", max_length=64)

    @property
    def status(self) -> str:
        """The status of the memory: active, unconfirmed or archived."""
        if self.waiting:
            return "unconfirmed"
        return "active" if self.memory.archived_at is None else "archived"


class RecordError(ValueError):
    """A record that can't be used; the message says why."""


def parse_record(raw: object) -> Record:
    """Return a validated record. Raises RecordError with a reason that is shown to the user."""
    if not isinstance(raw, Mapping):
        raise RecordError("it contains no record")
    if raw.get("version") != VERSION:
        raise RecordError(f"its format is version {str(raw.get('version'))[:20]}; this program reads version {VERSION}")
    try:
        record = Record.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        raise RecordError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    if record.memory.kind not in KINDS:
        raise RecordError(f"there is no memory kind {record.memory.kind[:50]!r}")
    if (record.project is None) != (record.memory.scope is Scope.USER):
        raise RecordError("its scope and its project contradict each other")
    return record


def signed(record: Record, key: bytes) -> Record:
    """Return the record with this store's signature."""
    return record.model_copy(update={"signature": _signature(record, key)})


def is_ours(record: Record, key: bytes) -> bool:
    """Return whether the record has a valid signature of this store."""
    return hmac.compare_digest(record.signature.encode(), _signature(record, key).encode())


def _signature(record: Record, key: bytes) -> str:
    values = record.model_dump(mode="json", exclude={"signature"})
    # ASCII and sorted keys give the same bytes after any round trip through JSON.
    text = json.dumps(values, sort_keys=True, separators=(",", ":"))
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def export_key(folder: Path) -> bytes:
    """Return the key that signs exports; create it in ``folder`` on first use. Raises RecordError if it is damaged."""
    path = folder / KEY_NAME
    if is_missing(path):
        replace_file(path, os.urandom(KEY_BYTES))
    key = read_regular(path, KEY_BYTES, follow=False)
    if len(key) != KEY_BYTES:
        raise RecordError(f"the key that signs exports is damaged; move {path} away to get a new key")
    return key


def as_json(record: Record) -> dict[str, Any]:
    """Return the record as JSON values."""
    return record.model_dump(mode="json")
