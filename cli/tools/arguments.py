"""The arguments of the tools, with their limits."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

TierName = Literal["minimal", "compact", "standard", "full"]
"""The tiers, from the least to the most detail: how much of each memory a tool returns."""

MAX_TEXT_LENGTH = 10_000
MAX_IDS = 10

Id = Annotated[int, Field(ge=1, le=2**53)]
Words = Annotated[str, Field(min_length=1, max_length=MAX_TEXT_LENGTH)]
Types = Annotated[list[str], Field(max_length=8, description="of links, such as SUPERSEDES; default: all")]
Depth = Annotated[int, Field(ge=1, le=3)]


class Arguments(BaseModel):
    """The arguments of a tool; unknown ones are rejected."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @classmethod
    def schema_of(cls) -> dict[str, Any]:
        """Return the JSON schema that the model reads, without the parts that only cost tokens."""
        whole = cls.model_json_schema()
        fields = {name: _short_schema(field) for name, field in whole.get("properties", {}).items()}
        required = {"required": whole["required"]} if "required" in whole else {}
        return {"type": "object", "properties": fields} | required


def _short_schema(field: dict[str, Any]) -> dict[str, Any]:
    """Return a field's type, choices and description. Limits are left out, because errors name them."""
    kept = {key: field[key] for key in ("type", "enum", "description") if key in field}
    return kept | ({"items": {"type": field["items"]["type"]}} if "items" in field else {})


class NoArguments(Arguments):
    """No arguments."""


class Paged(Arguments):
    """A page of a longer answer; ``offset`` is the ``next`` of the previous page."""

    limit: int = Field(default=10, ge=1, le=50)
    offset: int = Field(default=0, ge=0, le=1000, description="`next` of the previous page")


class SearchOptions(Arguments):
    """The mode and the budget of a search. For an argument that is missing, the setting applies."""

    mode: Literal["any", "auto", "execution", "planning", "brainstorming"] = Field(
        default="auto", description="how relevant, and how many results"
    )
    budget: Literal["lean", "balanced", "deep"] = "balanced"

    def search_options(self) -> dict[str, str]:
        """Return the options that the call sets, as arguments of a request to the daemon."""
        return {name: getattr(self, name) for name in ("mode", "budget") if name in self.model_fields_set}


class Task(SearchOptions):
    """A task that is about to be done."""

    task: Words
    tokens: int = Field(default=2000, ge=200, le=4000)
    tier: TierName = "standard"


class Filtered(Paged):
    """The filters of a search or a list."""

    kind: str = Field(default="", max_length=40, description="decision, preference, lesson, dead_end, ...")
    file: str = Field(default="", max_length=MAX_TEXT_LENGTH)
    branch: str = Field(default="", max_length=1000)
    tag: str = Field(default="", max_length=60)
    since: str = Field(default="", max_length=200, description="date, or: last week")
    tier: TierName = "minimal"

    def filters(self) -> dict[str, str | list[str] | None]:
        """Return the filters as arguments of a request to the daemon."""
        filters = {name: getattr(self, name) or None for name in ("kind", "file", "branch", "since")}
        return filters | {"tags": [self.tag] if self.tag else None}


class Query(Filtered, SearchOptions):
    """A search."""

    query: Words
    section: str = Field(default="", max_length=200, description="of long memories: Decision, Context, ...")


class Listing(Filtered):
    """A page of memories."""


class Ids(Arguments):
    """The ids of the memories to read."""

    ids: list[Id] = Field(min_length=1, max_length=MAX_IDS)
    tier: TierName = "standard"


class One(Arguments):
    """The id of the memory to read."""

    id: Id


class Why(Arguments):
    """A memory or a question to explain."""

    id: Id = Field(default=0, validate_default=False)
    query: str = Field(default="", max_length=MAX_TEXT_LENGTH, description="a question, instead of an id")
    depth: Depth = 3


class Linked(Arguments):
    """A memory, and the types of the links to list."""

    id: Id
    types: Types = []


class Walk(Arguments):
    """A memory, the types of the links to follow, and the number of steps."""

    id: Id
    depth: Depth = 3
    types: Types = []


class Conflicting(Arguments):
    """The memory whose conflicts are listed; 0 for all conflicts."""

    id: Id = Field(default=0, validate_default=False, description="a memory; default: all")


class Sessions(Paged):
    """A page of sessions."""

    tier: Literal["minimal", "compact"] = "compact"


class SessionId(Arguments):
    """One session."""

    session_id: str = Field(min_length=4, max_length=100, description="the start of the id is enough")


class Statement(Arguments):
    """A statement to remember."""

    text: Words
    kind: str = Field(default="", max_length=40)
    tags: list[Annotated[str, Field(max_length=60)]] = Field(default=[], max_length=5)
