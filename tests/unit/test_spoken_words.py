"""The index of what a transcript's tools and people said: it grows with its file, and notices another."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.transcripts import spoken_words as index
from subconscious.transcripts.spoken_words import Span, spoken_words, words_of
from subconscious.transcripts.utterances import Source, Utterance, UtteranceReader


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    index.forget()
    yield
    index.forget()


def tool(text: str) -> dict[str, Any]:
    result = {"type": "tool_result", "tool_use_id": "t", "content": text}
    return {"type": "user", "message": {"role": "user", "content": [result]}}


def person(text: str) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": text}}


def append(path: Path, *records: dict[str, Any]) -> int:
    with path.open("ab") as file:
        for record in records:
            file.write(json.dumps(record).encode() + b"\n")
        return file.tell()


def first(path: Path, text: str, span: Span) -> dict[Source, int]:
    with spoken_words(path, span) as said:
        found = said.first(tuple(words_of(text)), span)
    return {by: start for by, start in found.items() if by is not Source.PROSE}  # which are a tool's words once more


def test_what_is_appended_is_read_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.jsonl"
    middle = append(path, tool("the port is 8081"))
    assert first(path, "port is 8081", Span(0, middle)) == {Source.TOOL: 0}
    end = append(path, person("the port is 8081, yes"))
    read: list[int] = []
    before = UtteranceReader.read

    def listen(self: UtteranceReader, file: Any, end: int) -> Iterator[Utterance]:
        read.append(self.position)
        return before(self, file, end)

    monkeypatch.setattr(UtteranceReader, "read", listen)
    assert first(path, "port is 8081", Span(0, end)) == {Source.TOOL: 0, Source.PERSON: middle}
    assert first(path, "port is 8081", Span(0, end)) == {Source.TOOL: 0, Source.PERSON: middle}
    assert read == [middle]


def test_what_lies_outside_the_span_does_not_count(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    middle = append(path, tool("the port is 8081"))
    end = append(path, person("the port is 8081, yes"))
    assert first(path, "the port is 8081", Span(0, end)) == {Source.TOOL: 0, Source.PERSON: middle}
    assert first(path, "the port is 8081", Span(0, middle)) == {Source.TOOL: 0}
    assert first(path, "the port is 8081", Span(middle, end)) == {Source.PERSON: middle}
    assert first(path, "8081 the", Span(0, end)) == {}  # no run goes from one saying to the next


@pytest.mark.parametrize("keep", [True, False])
def test_a_file_that_was_replaced_is_read_anew(tmp_path: Path, keep: bool) -> None:
    path, other = tmp_path / "t.jsonl", tmp_path / "other.jsonl"
    end = append(path, tool("the port is 8081"))
    assert first(path, "port is 8081", Span(0, end))
    end = append(other, tool("the port is 9090, as far as anybody knows"))
    path.write_bytes(other.read_bytes()) if keep else other.replace(path)  # the same inode, or another
    assert first(path, "port is 8081", Span(0, end)) == {}
    assert first(path, "port is 9090", Span(0, end)) == {Source.TOOL: 0}


def test_a_file_that_is_gone_says_nothing(tmp_path: Path) -> None:
    with spoken_words(tmp_path / "gone", Span(0, 100)) as said:
        assert said.first(("port",), Span(0, 100)) == {}
        assert said.shares(frozenset({"port"}), Span(0, 100)) == []


WORD = st.sampled_from(["deploy", "deploys", "port", "tests", "the", "on", "friday", "8081"])
TEXTS = st.lists(st.tuples(st.booleans(), st.lists(WORD, max_size=9).map(" ".join)), max_size=6)


def utterances_in(path: Path, span: Span) -> list[Utterance]:
    with path.open("rb") as file:
        return list(UtteranceReader.starting_at(file, span.begin).read(file, span.end))


@given(texts=TEXTS, run=st.lists(WORD, min_size=1, max_size=3), cut=st.integers(0, 6))
def test_it_finds_what_reading_everything_finds(
    tmp_path_factory: pytest.TempPathFactory, texts: list[tuple[bool, str]], run: list[str], cut: int
) -> None:
    path = tmp_path_factory.mktemp("said") / "t.jsonl"
    ends = [append(path, (tool if by_tool else person)(text)) for by_tool, text in texts] or [0]
    path.touch()
    first(path, "port", Span(0, ends[min(cut, len(ends) - 1)]))
    span, expected = Span(0, ends[-1]), dict[Source, int]()
    for saying in utterances_in(path, span):
        if saying.source is Source.PROSE:
            continue
        if f" {' '.join(run)} " in f" {' '.join(words_of(saying.text))} ":
            expected.setdefault(saying.source, saying.start)
    assert first(path, " ".join(run), span) == expected


def test_the_share_of_a_sentence_counts_within_one_window(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    near = append(path, tool("deploys happened on friday"), person("deploy the port friday"))
    far = append(path, tool(f"deploy {'x ' * index.WINDOW} friday"))
    sentence, span = frozenset({"deploy", "friday", "port", "happen"}), Span(0, far)
    with spoken_words(path, span) as said:
        assert said.shares(sentence, span) == [(0, 0.75), (near, 0.25)]
