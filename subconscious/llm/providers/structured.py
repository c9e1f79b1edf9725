"""Structured answers: the JSON schema for each API, the parsing of a model's answer, and one repair."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Protocol

from pydantic import BaseModel, ValidationError

from subconscious.domain.errors import BadAnswerError, ProviderError
from subconscious.llm.providers import Answer, Reply, Request
from subconscious.llm.providers.wire import charged, clean

MAX_CHARACTERS = 1 << 20
"""The most characters of an answer that is accepted."""

SHOWN_CHARACTERS = 20_000
"""The most characters of an unreadable answer that are sent back to the model with the request to repair it."""

TRIES = 32
"""The most positions in an answer at which parsing of a JSON object is tried."""

FENCE = re.compile(r"(?>```[A-Za-z]*\s*?\n)(.*?)```", re.DOTALL)


WORDS = {
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "uniqueItems": "no item twice",
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
}
DROPPED = {"title", "default", "discriminator", "$defs"}


def schema_of(model: type[BaseModel], unsupported: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Return the JSON schema of a Pydantic model: no additional properties, every field required, no references.

    Keywords that an API doesn't support (``unsupported``) are moved into the description. Other keywords stay, because
    small local models need the limits to stop repeating themselves.

    Raises TypeError for a recursive model, which no API supports.
    """
    whole = model.model_json_schema()
    found: dict[str, Any] = _close(whole, whole.get("$defs", {}), unsupported, ())
    return found


def _close(node: Any, defined: Mapping[str, Any], unsupported: frozenset[str], within: tuple[str, ...]) -> Any:
    if isinstance(node, list):
        return [_close(each, defined, unsupported, within) for each in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        name = str(node["$ref"]).rpartition("/")[2]
        if name in within:
            raise TypeError(f"the schema of {name} refers to itself, which providers don't support")
        beside = {key: value for key, value in node.items() if key != "$ref"}
        return _close({**defined[name], **beside}, defined, unsupported, (*within, name))
    return _object(_spoken(node, unsupported), defined, unsupported, within)


def _object(
    node: dict[str, Any], defined: Mapping[str, Any], unsupported: frozenset[str], within: tuple[str, ...]
) -> Any:
    kept = {key: value for key, value in node.items() if key not in DROPPED}
    fields = kept.pop("properties", None)
    made = {
        {"oneOf": "anyOf"}.get(key, key): value
        if key in {"enum", "const"}
        else _close(value, defined, unsupported, within)
        for key, value in kept.items()
    }
    if fields is not None:
        made["properties"] = {name: _close(field, defined, unsupported, within) for name, field in fields.items()}
        made["required"] = list(fields)
    if made.get("type") == "object":
        made.setdefault("additionalProperties", False)
    return made


def _spoken(node: dict[str, Any], unsupported: frozenset[str]) -> dict[str, Any]:
    """Return a schema with unsupported keywords moved into the description."""
    refused = [key for key in node if key in unsupported and not isinstance(node[key], dict)]
    if not refused:
        return node
    said = ", ".join(WORDS[key].format(node[key]) for key in refused)
    described = f"{node['description']} ({said})" if node.get("description") else said
    return {key: value for key, value in node.items() if key not in refused} | {"description": described}


def instruction(model: type[BaseModel]) -> str:
    """Return the instruction to answer in this schema, for servers without structured output."""
    schema = json.dumps(schema_of(model), ensure_ascii=False, separators=(",", ":"))
    return f"Answer with one JSON object and nothing else: no prose, no code fence. This is its JSON schema:\n{schema}"


class UnreadableError(ValueError):
    """A model's answer is unreadable.

    ``told`` explains the error to the model. ``kinds`` explains it in logs, without the text of the answer.
    """

    def __init__(self, told: str, kinds: str) -> None:
        super().__init__(kinds)
        self.told = told
        self.kinds = kinds


def read(text: str, model: type[BaseModel]) -> BaseModel:
    """Return the parsed answer: the first JSON object that fits the schema, even inside a code fence or prose.

    Raises UnreadableError if there is none.
    """
    if len(text) > MAX_CHARACTERS:
        raise UnreadableError("it is far too long", f"it has more than {MAX_CHARACTERS} characters")
    refused: UnreadableError | None = None
    for value in _values(text, {field.alias or name for name, field in model.model_fields.items()}):
        try:
            # As JSON, from which pydantic accepts more (dates, tuples); cleaned, because escapes may be surrogates.
            return model.model_validate_json(clean(json.dumps(value, ensure_ascii=False)))
        except ValidationError as error:
            refused = refused or _explained(error)
    raise refused or UnreadableError("it contains no JSON object", "it contains no JSON object")


def _explained(error: ValidationError) -> UnreadableError:
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    told = "; ".join(f"{'.'.join(str(part) for part in each['loc']) or 'it'}: {each['msg']}" for each in problems[:10])
    kinds = ", ".join(sorted({each["type"] for each in problems}))
    return UnreadableError(told, f"it doesn't fit the schema ({kinds})")


def _values(text: str, fields: set[str]) -> Iterator[Any]:
    """Yield the JSON objects in a text, the likeliest first; an object inside prose needs a field of the schema."""
    whole = _loaded(text)
    if isinstance(whole, dict):
        yield whole
        return
    after_thought = text.rpartition("</think>")[2]
    fenced = (_loaded(block) for block in FENCE.findall(after_thought)[:TRIES])
    for value in (*fenced, *_scanned(after_thought)):
        if isinstance(value, dict) and fields & set(value):
            yield value


def _scanned(text: str) -> Iterator[Any]:
    start = text.find("{")
    for _ in range(TRIES):
        if start < 0:
            return
        end = start + 1
        try:
            value, end = DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            pass
        else:
            yield value
        start = text.find("{", end)


def _constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


DECODER = json.JSONDecoder(parse_constant=_constant)


def _loaded(text: str) -> Any:
    try:
        return DECODER.decode(text.strip())
    except (ValueError, RecursionError):
        return None


class Asker(Protocol):
    """A provider, or a wrapper that records a provider's calls."""

    async def ask(self, request: Request) -> Reply:
        """Send one request and return the reply."""
        ...


async def answer(provider: Asker, request: Request) -> Answer:
    """Return the parsed answer to a request; if it is unreadable, send the request again with the answer and the error.

    The reply's usage is the sum of both calls. Raises ProviderError, with the charged usage in ``usage``, if a call
    fails, and BadAnswerError if the second answer is unreadable too.
    """
    first = await provider.ask(request)
    try:
        return read(first.text, request.schema), first
    except UnreadableError as error:
        wrong = error
    second = await _repaired(provider, request, first, wrong)
    usage = first.usage + second.usage
    try:
        return read(second.text, request.schema), replace(second, usage=usage)
    except UnreadableError as error:
        raise charged(unusable(request, error), usage) from None


async def _repaired(provider: Asker, request: Request, first: Reply, wrong: UnreadableError) -> Reply:
    try:
        return await provider.ask(repair_of(request, first.text, wrong))
    except ProviderError as error:
        charged(error, first.usage)
        raise


def repair_of(request: Request, said: str, wrong: UnreadableError) -> Request:
    """Return the request for a repair: the same request, with the unreadable answer and the error."""
    text = (
        f"{request.text}\n\n---\nYour answer to this was:\n{said[:SHOWN_CHARACTERS]}\n---\n"
        f"It can't be used: {wrong.told}.\nAnswer again, with one JSON object of the shape asked for and nothing else."
    )
    return replace(request, text=text)


def unusable(request: Request, wrong: UnreadableError) -> BadAnswerError:
    """Return the error for an answer that stayed unreadable; it does not contain the answer's text."""
    return BadAnswerError(
        f"the model's answer for {request.purpose} can't be used: {wrong.kinds}",
        "choose a model that follows a schema",
    )
