"""Measure capture with a model and the offline extractor, on shared sessions and with a real, very small model.

    python -m bench.capture_model --corpora DIR --transcripts DIR --model FILE.gguf [--sessions 4]

The model runs on this machine (llama.cpp's server, by its OpenAI endpoint); nothing leaves it. The results do not show
how good a model can be: with half a billion parameters it only shows that the path from a transcript to a verified
candidate works, and what it rejects.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

from pydantic import Field

from bench.capture import Sessions, content_words
from bench.capture_detectors import SETTINGS, choose, judged
from subconscious.capture.evaluation import weigh
from subconscious.capture.llm_extraction import extractor
from subconscious.capture.llm_extraction.chunks import Chunk, Measure, chunks, tokens
from subconscious.capture.llm_extraction.origins import words
from subconscious.capture.llm_extraction.proposals import Proposal, Proposals
from subconscious.domain.errors import BadAnswerError, ProviderError
from subconscious.domain.model import Admission, Candidate, Decision
from subconscious.llm.providers import Access, Provider, open_provider
from subconscious.llm.providers.structured import answer
from subconscious.redaction.cleaning import clean
from subconscious.text.same_statement import same_statement

FEW = 3
"""The most candidates of a chunk: without a limit, a model of this size never ends."""

Pair = tuple[Candidate, Admission]


class Few(Proposals):
    """The same answer, shorter."""

    candidates: Annotated[list[Proposal], Field(default=[], json_schema_extra={"maxItems": FEW})]


@dataclass
class Tally:
    """The results of the model's answers."""

    asked: int = 0
    valid: int = 0
    proposed: int = 0
    verified: int = 0
    grounded: list[float] = field(default_factory=list)
    auto: int = 0
    review: int = 0
    refused: dict[str, int] = field(default_factory=dict)


@contextmanager
def serving(file: Path, context: int) -> Iterator[str]:
    """Serve a model on loopback for the block; its OpenAI endpoint."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(file)
    params.n_ctx, params.n_parallel = context, 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.warmup, params.verbosity = False, 0
    server = xllamacpp.Server(params)
    yield f"{server.listening_address}/v1"
    del server


async def read(provider: Provider, session: list[Chunk], tally: Tally) -> list[Pair]:
    """Ask about each chunk of a session; the candidates that the gate lets through."""
    kept: list[Pair] = []
    for chunk in session:
        tally.asked += 1
        request = replace(extractor.request(chunk, []), schema=Few, max_tokens=900)
        try:
            found, _ = await answer(provider, request)
        except BadAnswerError:
            continue
        except ProviderError as error:
            print(f"  not asked: {error}")
            continue
        assert isinstance(found, Proposals)
        tally.valid += 1
        candidates = extractor.candidates(found, chunk, extractor.extractor("openai", "bench"), clean)
        kept += count(weigh(candidates, chunk.turns, SETTINGS), chunk, tally)
    return kept


def count(found: list[Pair], chunk: Chunk, tally: Tally) -> list[Pair]:
    """Count the results of candidates; return those that were not rejected."""
    said = words(chunk.text)
    heard = {turn.id: turn.quotable_text for turn in chunk.turns}
    for candidate, admission in found:
        own = words(candidate.content)
        tally.proposed += 1
        tally.verified += candidate.evidence.quote in heard[candidate.evidence.turn_id]
        tally.grounded.append(len(own & said) / len(own) if own else 0.0)
        tally.auto += admission.decision is Decision.AUTO
        tally.review += admission.decision is Decision.REVIEW
        if admission.decision is Decision.DISCARD:
            reason = re.sub(r"[\d.]+", "N", admission.reason.partition(":")[0])
            tally.refused[reason] = tally.refused.get(reason, 0) + 1
    return [pair for pair in found if pair[1].decision is not Decision.DISCARD]


def joined(offline: list[Pair], read: list[Pair]) -> list[str]:
    """What a session brings with both, within the cap, as `refining` joins them: nothing twice."""
    new = [pair for pair in read if not any(same_statement(pair[0].content, other.content) for other, _ in offline)]
    pairs = [*offline, *new]
    strength = [admission.confidence + (admission.decision is Decision.AUTO) for _, admission in pairs]
    places = choose(strength, [candidate.content for candidate, _ in pairs], SETTINGS.session_captures)
    return [pairs[at][0].content for at in places]


def covered(learnings: list[str], captured: list[str]) -> int:
    """Silver learnings of which some capture holds half of the words: a lexical lower bound, as everywhere."""
    found = [content_words(text) for text in captured]
    wanted = [content_words(text) for text in learnings]
    return sum(any(len(one & other) >= 0.5 * len(one) for other in found) for one in wanted if one)


def shortest(sessions: Sessions, count: int) -> list[str]:
    """The sessions with silver learnings that take a model least time, but more than a greeting."""
    told = {name: tokens(sessions.turns(name)) for name in sessions.all() if learnings(sessions, name)}
    return [name for name in sorted(told, key=lambda name: told[name]) if told[name] > 1000][:count]


def learnings(sessions: Sessions, name: str) -> list[str]:
    return [text for label, text in sessions.silver[name] if label == "learning"]


async def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--transcripts", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--sessions", type=int, default=4)
    parser.add_argument("--chunk-tokens", type=int, default=2000)
    options = parser.parse_args()
    sessions, tally = Sessions(options.corpora, options.transcripts), Tally()
    wanted = alone = together = 0
    with serving(options.model, 8 * 1024) as url:
        provider = open_provider("openai", Access(model="bench", base_url=url, timeout=600))
        for name in shortest(sessions, options.sessions):
            cut = list(chunks(sessions.turns(name), Measure(options.chunk_tokens, 4)))
            offline = judged(str(sessions.path(name)))
            begun = time.monotonic()
            found = await read(provider, [chunk for chunk in cut if chunk.speaks], tally)
            seconds = time.monotonic() - begun
            silver = learnings(sessions, name)
            sums = (covered(silver, joined(offline, [])), covered(silver, joined(offline, found)))
            wanted, alone, together = wanted + len(silver), alone + sums[0], together + sums[1]
            print(
                f"{name[:8]}: {tokens(sessions.turns(name)):6} tokens, {len(cut):2} chunks, {seconds:5.0f} s;"
                f" offline kept {len(offline)}, model kept {len(found)};"
                f" of {len(silver)} learnings offline covers {sums[0]}, both {sums[1]}",
                flush=True,
            )
        await provider.close()
    report(tally)
    print(f"silver learnings covered: offline {alone} of {wanted}, with the model {together}")


def report(tally: Tally) -> None:
    """Print the sums."""
    grounded = sum(tally.grounded) / max(1, len(tally.grounded))
    print(f"answers that keep the schema: {tally.valid} of {tally.asked}")
    print(f"candidates: {tally.proposed}, their words found in the chunk: {grounded:.2f}")
    print(f"evidence verified: {tally.verified} of {tally.proposed}")
    print(f"kept: {tally.auto} at once, {tally.review} for review")
    for reason, number in sorted(tally.refused.items(), key=lambda item: -item[1]):
        print(f"  refused, {reason}: {number}")


if __name__ == "__main__":
    asyncio.run(main())
