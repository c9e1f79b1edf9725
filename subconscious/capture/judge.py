"""Judges typed sentences: the probability that a sentence is worth storing, and its kind.

There are two models, both trained on labelled messages by ``bench/judge_train.py``. The linear model reads hashed
character n-grams (any language), words, the position in the message and, with the local embedder, the sentence's
vector. The encoder is the upper half of that embedder, fine-tuned for this purpose. It reads the sentence with the text
before it, and is only used if the linear model does not reject the sentence. The combined score is calibrated on
messages of writers on whom neither model was trained (``bench/judge_train.py``, ``PASSING``).
"""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from subconscious.domain.errors import EmbedderError
from subconscious.text.linear import logistic
from subconscious.text.words import plain

if TYPE_CHECKING:
    import numpy

    from subconscious.embeddings.local import LocalEmbedder

HOPELESS = -6.0
"""The linear model's score, from words alone, below which no other model is used.

14 of 100 sentences of the training data are below it, and half of the sentences in real sessions. Even with the
embedder, the probability of such a sentence is below .001.
"""

UNLIKELY = -4.0
"""The score of the linear model below which the encoder is not used."""

FEW_WORDS = 2
"""A sentence of at most this many words counts as having no content of its own: "no!", "ok then"."""

MOST_WORDS_OF_AN_ANSWER = 8

LONGEST_BEFORE = 160
"""The maximum number of characters of the preceding text that are read with a sentence."""

LONGEST = 400
"""The maximum number of characters of a sentence that are used for the features of its shape."""

GRAMS, WORDS = 1 << 16, 1 << 14
"""The sizes of the tables of hashed n-grams and words."""

SHORTEST_GRAM, LONGEST_GRAM = 2, 5

_TOKEN = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?|\d+|[^\w\s]")
_WORD = re.compile(r"\S+")
_CODE = re.compile(r"\w_\w|[a-z][A-Z]|\w\.\w|/\w|`")
_OFFER = re.compile(r"\?\s*\Z|\b(?:option|shall i|should i|do you want|would you like|which)\b", re.IGNORECASE)
_NO = re.compile(r"\W*(?:no+|nope|nein|non|n\u00e3o|wrong|stop|again)\b", re.IGNORECASE)
_YES = re.compile(r"\W*(?:yes|yep|yeah|ok(?:ay)?|sure|right|ja|oui|s[i\u00ed]|sim)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Spoken:
    """A typed sentence with its context: the other sentences of its message, and the assistant's text before it.

    ``reworded`` is judged instead of the sentence. It has the text of the option that the sentence picks by number, or
    leaves out "on this branch". ``branch`` is the only branch for which the sentence holds; "" means all branches.
    """

    text: str
    before: str = ""
    place: int = 0
    count: int = 1
    previous: str = ""
    interrupted: bool = False
    reworded: str = ""
    branch: str = ""

    @property
    def meant(self) -> str:
        """The text to judge: ``reworded`` if there is one, else the sentence itself."""
        return self.reworded or self.text


class Opinion(NamedTuple):
    """The calibrated probability, 0..1, that a sentence is worth storing, and its kind."""

    chance: float
    kind: str


class Features(NamedTuple):
    """The indexes and values of the hashed features, and the numeric features."""

    places: list[int]
    values: list[float]
    structure: list[float]


def features(spoken: Spoken) -> Features:
    """Return the features of a sentence, without its vector."""
    text = plain(spoken.meant)
    hashed = [*_scaled(_grams(text), GRAMS, 0), *_scaled(_words(text, spoken), WORDS, GRAMS)]
    return Features([place for place, _ in hashed], [value for _, value in hashed], structure(spoken))


def _grams(text: str) -> Iterator[str]:
    for word in _WORD.findall(re.sub(r"\d", "0", text)):
        padded = f" {word} "
        for size in range(SHORTEST_GRAM, LONGEST_GRAM + 1):
            yield from (padded[at : at + size] for at in range(max(1, len(padded) - size + 1)))


def _words(text: str, spoken: Spoken) -> Iterator[str]:
    found = ["#" if token.isdigit() else token for token in _TOKEN.findall(text)]
    yield from found
    yield from (f"{left} {right}" for left, right in pairwise(found))
    yield from (f"first {word}" for word in found[:1])
    yield f"first {' '.join(found[:2])}"
    yield from (f"last {word}" for word in found[-1:])
    before = _TOKEN.search(spoken.previous.lower())
    if before:
        yield f"after {before[0]}"


def _scaled(names: Iterable[str], size: int, offset: int) -> list[tuple[int, float]]:
    """Return a sparse vector of feature names as pairs: an index (hash modulo ``size``, plus ``offset``) and its weight.

    The weights are dampened counts, scaled to unit length, so that long sentences don't weigh more.
    """
    counts = Counter(zlib.crc32(name.encode("utf-8", "replace")) % size for name in names)
    dampened = {place: 1 + math.log(count) for place, count in counts.items()}
    length = math.sqrt(sum(value * value for value in dampened.values())) or 1.0
    return [(offset + place, value / length) for place, value in dampened.items()]


def structure(spoken: Spoken) -> list[float]:
    """Return the features of a sentence's shape and position: always the same number of values, on a similar scale."""
    text, words = spoken.meant[:LONGEST], spoken.meant[:LONGEST].split()
    offered = bool(spoken.before and _OFFER.search(spoken.before[-300:]))
    short = len(words) <= 6
    return [
        math.log1p(len(words)) / 3,
        float(text.rstrip().endswith("?")),
        float("?" in text),
        float(any(sign.isdigit() for sign in text)),
        float(bool(_CODE.search(text))),
        float('"' in text or "\u201c" in text),
        float(":" in text),
        float("," in text),
        float(not text.isascii()),
        min(spoken.place, 5) / 5,
        float(spoken.count == 1),
        min(spoken.count, 8) / 8,
        float(spoken.place + 1 == spoken.count),
        float(bool(spoken.before)),
        float(offered),
        float(offered and short),
        float(bool(_NO.match(text))),
        float(bool(_YES.match(text))),
        float(bool(_NO.match(text)) and bool(spoken.before)),
        float(spoken.interrupted),
        float(short),
        float(len(words) <= 3),
    ]


def context(spoken: Spoken) -> str:
    """Return the end of the previous sentence; if that sentence is too short, the end of the assistant's text."""
    bare = len(spoken.previous.split()) <= FEW_WORDS and spoken.before
    return (spoken.before if bare else spoken.previous)[-LONGEST_BEFORE:]


def is_answer(spoken: Spoken) -> bool:
    """Whether a sentence is a short reply to the assistant, which says little without the assistant's text."""
    first = len(spoken.previous.split()) <= FEW_WORDS
    return bool(spoken.before) and first and len(spoken.meant.split()) <= MOST_WORDS_OF_AN_ANSWER


class Model:
    """The weights of the linear model, and of the combination of its score with the encoder's."""

    def __init__(self, table: dict[str, numpy.ndarray]) -> None:
        self._table = table

    def opinion(self, spoken: Spoken, embedder: LocalEmbedder | None = None) -> Opinion:
        """Return the probability and kind of a sentence; without an embedder, estimated from its words alone."""
        seen = features(spoken)
        by_words = self._score("words", seen)
        if embedder is None or by_words < HOPELESS:
            return self._opinion("words", seen, by_words)
        meaning = embedder.embed([plain(spoken.meant)])[0]
        linear = self._score("both", seen, meaning)
        if linear < UNLIKELY:
            return self._opinion("both", seen, linear, meaning)
        read = read_on(embedder.middle(plain(spoken.meant), context(spoken)))
        share = float(self._table["share"])
        scale = "answer" if is_answer(spoken) else "joint"
        return self._opinion(scale, seen, (1 - share) * linear + share * read, meaning)

    def _opinion(self, scale: str, seen: Features, score: float, meaning: numpy.ndarray | None = None) -> Opinion:
        slope, offset = self._table[f"{scale}_scale"].tolist()
        names: list[str] = self._table["names"].tolist()
        kinds = self._scores("words_kinds" if meaning is None else "both_kinds", seen, meaning)
        return Opinion(logistic(slope * score + offset), names[int(kinds.argmax())])

    def _score(self, name: str, seen: Features, meaning: numpy.ndarray | None = None) -> float:
        return float(self._scores(name, seen, meaning)[0])

    def _scores(self, name: str, seen: Features, meaning: numpy.ndarray | None) -> numpy.ndarray:
        import numpy

        weights = self._table[name]
        hashed, rest = weights[:, : GRAMS + WORDS], weights[:, GRAMS + WORDS :]
        dense = [*seen.structure, *(() if meaning is None else meaning.tolist()), 1.0]
        scores: numpy.ndarray = hashed[:, seen.places].astype(numpy.float32) @ numpy.array(seen.values, numpy.float32)
        return scores + rest.astype(numpy.float32) @ numpy.array(dense, numpy.float32)


def opinions(said: Iterable[Spoken], embedder: LocalEmbedder) -> dict[Spoken, Opinion]:
    """Return, for each sentence, the probability that it is worth storing, and its kind. CPU-bound: run it in a thread.

    If the embedder fails, the remaining sentences are left out.
    """
    found = {}
    for one in said:
        try:
            found[one] = model().opinion(one, embedder)
        except EmbedderError:  # the embedder has just been replaced by another one
            break
    return found


@cache
def model() -> Model:
    """Return the shipped linear model; it is loaded once."""
    import numpy  # not at the top of the module: the import takes a tenth of a second

    with files("subconscious.capture").joinpath("judge.npz").open("rb") as file, numpy.load(file) as table:
        return Model({name: table[name] for name in table.files})


def read_on(middle: numpy.ndarray) -> float:
    """Return the encoder's score for the output of the embedder's middle layer."""
    return float(_upper().run(None, {"middle": middle[None]})[0].item())


@cache
def _upper() -> Any:
    from subconscious.embeddings.local import open_packaged

    return open_packaged("subconscious.capture", "judge.onnx", "the judge")  # if loading fails, words alone decide


def unload() -> None:
    """Free the memory of both models; the next sentence loads them again."""
    model.cache_clear()
    _upper.cache_clear()
