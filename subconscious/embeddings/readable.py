"""Decides whether the local model can read a text: it knows words in Latin letters only."""

from __future__ import annotations

from subconscious.embeddings.wordpiece import bert_uncased
from subconscious.text.words import has_letters, is_latin

LETTERS = 300
"""The number of characters at the beginning of a text that are examined."""

LEAST_LETTERS = 1.7
"""The minimum mean number of letters and digits in the pieces (tokens) into which the model splits a readable text.

English has 3.5 on average, and 1 text in 200 has fewer than this. With fewer, a text mostly consists of pieces of one
letter that mean nothing: made-up words, or a language of which the model knows no words.
"""

SURE_LETTERS = 2.6
"""The same for a text that the model can surely read; 1 English text in 12 has fewer letters per piece.

With fewer, it may be in a language that the model was not trained on, such as Hungarian or Vietnamese.
"""

OTHER_SCRIPTS = 0.1
"""The largest share (0 to 1) of a text's letters that may belong to scripts other than Latin."""


def in_latin_letters(text: str) -> bool:
    """Whether most letters of a text, if it has any, are Latin. The local model knows no words in other letters."""
    letters = [one for one in text[:LETTERS] if one.isalpha()]
    return sum(not is_latin(one) for one in letters) <= OTHER_SCRIPTS * len(letters)


def is_readable(text: str, least: float = LEAST_LETTERS) -> bool:
    """Whether the local model can compare a text with another one: it has words, and the model knows their parts.

    Any two texts that it can't read look alike to it: different statements would count as the same. ``least`` is the
    minimum mean number of letters and digits per piece.
    """
    text = text[:LETTERS]
    if not (has_letters(text) and in_latin_letters(text)):
        return False
    pieces = len(bert_uncased().encode(text, LETTERS)) - 2  # without [CLS] and [SEP]
    return sum(map(str.isalnum, text)) >= least * pieces
