"""Schemas for the APIs, and reading what models write instead of plain JSON."""

from __future__ import annotations

import json
from contextlib import suppress
from importlib import import_module
from typing import Annotated, Any, Literal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from subconscious.domain.errors import BadAnswerError, RateLimitedError
from subconscious.llm.providers import Access, Request, Usage
from subconscious.llm.providers.scripted import ScriptedProvider
from subconscious.llm.providers.structured import MAX_CHARACTERS, UnreadableError, answer, instruction, read, schema_of


class Cat(BaseModel):
    animal: Literal["cat"]
    lives: int = Field(ge=1, le=9)


class Dog(BaseModel):
    animal: Literal["dog"]
    name: str = Field(min_length=1, max_length=20, description="what it answers to")


class Zoo(BaseModel):
    """Where they live."""

    pets: list[Annotated[Cat | Dog, Field(discriminator="animal")]] = Field(default_factory=list, max_length=3)
    favourite: Cat | None = Field(default=None, description="the best of all")
    title: str = ""


class Node(BaseModel):
    child: Node | None = None


def _nodes(schema: Any) -> list[dict[str, Any]]:
    if isinstance(schema, list):
        return [node for each in schema for node in _nodes(each)]
    if not isinstance(schema, dict):
        return []
    return [schema, *(node for each in schema.values() for node in _nodes(each))]


def unsupported_by(provider: str) -> frozenset[str]:
    """The keywords that an API does not know. Each SDK is imported where it is needed: that takes a second."""
    if not provider:
        return frozenset()
    found: frozenset[str] = import_module(f"subconscious.llm.providers.{provider}").UNSUPPORTED
    return found


@pytest.mark.parametrize("provider", ["", "openai", "anthropic"])
def test_every_object_is_closed_and_every_field_required(provider: str) -> None:
    schema = schema_of(Zoo, unsupported_by(provider))
    assert list(schema["properties"]) == ["pets", "favourite", "title"], "a field named like a keyword stays"
    objects = [node for node in _nodes(schema) if node.get("type") == "object"]
    assert len(objects) == 4
    for node in objects:
        assert node["additionalProperties"] is False
        assert node["required"] == list(node["properties"])
    text = json.dumps(schema)
    assert not [word for word in ("$ref", "$defs", "oneOf", "discriminator", '"default"') if word in text]


def test_a_bound_that_an_api_rejects_is_described_in_words() -> None:
    pets = schema_of(Zoo, unsupported_by("anthropic"))["properties"]["pets"]
    cat, dog = pets["items"]["anyOf"]
    assert "maxItems" not in pets
    assert pets["description"] == "at most 3 items"
    assert (
        dog["properties"]["name"]["description"] == "what it answers to (at most 20 characters, at least 1 characters)"
    )
    assert cat["properties"]["lives"]["description"] == "at most 9, at least 1"
    plain = schema_of(Zoo)["properties"]["pets"]
    assert plain["maxItems"] == 3
    assert "description" not in plain


def test_a_model_that_contains_itself_is_a_mistake_of_ours() -> None:
    with pytest.raises(TypeError):
        schema_of(Node)


GOOD = '{"pets": [{"animal": "cat", "lives": 9}], "title": "a {b} ```c```"}'


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"\ufeff{GOOD}",
        f"  \n{GOOD}\n\n",
        f"```json\n{GOOD.replace('```c```', '')}\n```",
        f"Sure, here it is:\n\n{GOOD}\n\nI hope that {{helps}}!",
        f'The schema {{"type": "object"}} asks for this: {GOOD}',
        f'<think>Perhaps {{"pets": []}}? No.</think>{GOOD}',
        f'{{"broken": {GOOD}',
    ],
)
def test_json_is_found_within_other_text(text: str) -> None:
    value = read(text, Zoo)
    assert isinstance(value, Zoo)
    assert value.pets == [Cat(animal="cat", lives=9)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no",
        "[]",
        "null",
        '"{}"',
        '{"pets": [{"animal": "cow"}]}',
        '{"pets": NaN}',
        "{" * 100_000,
        '{"a":' * 100_000,
        "[" * 100_000,
        '{"title": "' + "x" * MAX_CHARACTERS + '"}',
        '{"title": ' + "9" * 10_000 + "}",
    ],
)
def test_invalid_answers_are_rejected(text: str) -> None:
    with pytest.raises(UnreadableError):
        read(text, Zoo)


@given(st.text())
@example("{}{}{")
def test_no_text_breaks_the_reading(text: str) -> None:
    with suppress(UnreadableError):
        read(text, Dog)


@given(st.builds(Zoo, title=st.text()), st.text(alphabet="abc \n`"), st.text(alphabet="abc \n`"))
def test_the_intended_json_is_read_despite_other_text(zoo: Zoo, before: str, after: str) -> None:
    assert read(f"{before}{zoo.model_dump_json()}{after}", Zoo).model_dump() == zoo.model_dump()


def test_the_error_text_is_sent_to_the_model_only() -> None:
    with pytest.raises(UnreadableError) as caught:
        read('{"pets": [{"animal": "dog", "name": ""}], "secret words": 1}', Zoo)
    assert "pets.0.dog.name" in caught.value.told
    assert caught.value.kinds == "it doesn't fit the schema (string_too_short)"


def test_the_instruction_contains_the_schema() -> None:
    assert '"pets"' in instruction(Zoo)


def make_request() -> Request:
    return Request("test", "system", "question", Zoo)


def make_provider(*script: Any) -> ScriptedProvider:
    return ScriptedProvider(Access("model", options={"script": script}))


async def test_a_good_answer_is_not_asked_for_twice() -> None:
    provider = make_provider(GOOD, GOOD)
    value, reply = await answer(provider, make_request())
    assert isinstance(value, Zoo)
    assert reply.text == GOOD
    assert len(provider.history) == 1


async def test_a_repair_contains_the_answer_and_its_errors_and_both_calls_count() -> None:
    provider = make_provider("nothing of use", GOOD)
    value, reply = await answer(provider, make_request())
    assert isinstance(value, Zoo)
    first, second = provider.history
    assert second.system == first.system
    assert second.text.startswith("question")
    assert "nothing of use" in second.text
    assert "it contains no JSON object" in second.text
    asked = len(first.system) // 4 + len(first.text) // 4 + len(second.system) // 4 + len(second.text) // 4
    assert reply.usage == Usage(asked, len("nothing of use") // 4 + len(GOOD) // 4)


async def test_charged_tokens_are_known_if_the_repair_fails() -> None:
    with pytest.raises(RateLimitedError) as limited:
        await answer(make_provider("nothing of use", RateLimitedError("slow", retry_after=1)), make_request())
    assert limited.value.usage == Usage(3, 3)
    with pytest.raises(BadAnswerError) as bad:
        await answer(make_provider("nothing of use", "nor this"), make_request())
    assert bad.value.usage is not None
    assert bad.value.usage.output == 5
