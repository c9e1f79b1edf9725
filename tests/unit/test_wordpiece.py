import hashlib
import unicodedata
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.embeddings.wordpiece import LONGEST_WORD, WordPiece, bert_uncased, words_of

CLS, SEP, UNK = 101, 102, 100
VOCABULARY = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"


def test_the_vocabulary_is_that_of_bert_base_uncased() -> None:
    text = (resources.files("subconscious.embeddings") / "vocab.txt").read_bytes()
    assert hashlib.sha256(text).hexdigest() == VOCABULARY


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Hello, World!", ["hello", ",", "world", "!"]),
        ("snake_case(x)=1", ["snake", "_", "case", "(", "x", ")", "=", "1"]),
        ("Crème brûlée", ["creme", "brulee"]),
        ("tab\tnew\nline\u00a0space\u2028line", ["tab", "new", "line", "space", "line"]),
        ("zero\u200bwidth \x07bell \ufffd", ["zerowidth", "bell"]),
        ("数据库 is 速い", ["数", "据", "库", "is", "速", "い"]),
        ("ΌΔΟΣ", ["οδοσ"]),
        ("\u0130stanbul", ["istanbul"]),
        ("a\u037eb", ["a", ";", "b"]),
        ("«x» — y…", ["«", "x", "»", "—", "y", "…"]),
        ("", []),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert words_of(text) == words


# From the reference: tokenizers 0.23.3 with the tokenizer.json of all-MiniLM-L6-v2.
@pytest.mark.parametrize(
    ("text", "ids"),
    [
        (
            "We decided to use SQLite in WAL mode.",
            [101, 2057, 2787, 2000, 2224, 29296, 4221, 1999, 24547, 5549, 1012, 102],
        ),
        (
            "retry_with_backoff(max_attempts=5)",
            [101, 2128, 11129, 1035, 2007, 1035, 2067, 7245, 1006, 4098, 1035, 4740, 1027, 1019, 1007, 102],
        ),
        (
            "don't panic: it's only E050",
            [101, 2123, 1005, 1056, 6634, 1024, 2009, 1005, 1055, 2069, 1041, 2692, 12376, 102],
        ),
        ("Größe naïveté Ångström", [101, 24665, 2080, 17499, 15743, 2618, 17076, 15687, 102]),
        ("\u6570\u636e\u5e93 locked", [101, 100, 100, 100, 5299, 102]),
        ("embeddings tokenization", [101, 7861, 8270, 4667, 2015, 19204, 3989, 102]),
        (
            "https://example.com/a?b=1&c=%20",
            [
                101,
                16770,
                1024,
                1013,
                1013,
                2742,
                1012,
                4012,
                1013,
                1037,
                1029,
                1038,
                1027,
                1015,
                1004,
                1039,
                1027,
                1003,
                2322,
                102,
            ],
        ),
        ("\U0001f600 ok", [101, 100, 7929, 102]),
        ("\u0130\u03a3 \ufb01", [101, 1045, 29733, 1984, 102]),
        ("co-operate\u2014now", [101, 2522, 1011, 5452, 1517, 2085, 102]),
        ("", [101, 102]),
    ],
)
def test_ids_are_those_of_the_reference(text: str, ids: list[int]) -> None:
    assert bert_uncased().encode(text, 256) == ids


def test_a_word_with_an_unknown_rest_is_unknown() -> None:
    tokenizer = WordPiece(["[UNK]", "[CLS]", "[SEP]", "un", "##known", "known"])
    assert tokenizer.encode("unknown knownx", 9) == [1, 3, 4, 0, 2]


def test_a_word_that_is_too_long_is_unknown() -> None:
    assert bert_uncased().encode("a" * (LONGEST_WORD + 1), 9) == [CLS, UNK, SEP]
    assert UNK not in bert_uncased().encode("a" * LONGEST_WORD, 256)


def test_control_tokens_in_a_text_are_text() -> None:
    assert bert_uncased().encode("[SEP]", 9)[1:-1] != [SEP]


@given(st.text(max_size=300), st.integers(2, 40))
def test_a_shorter_limit_gives_a_prefix(text: str, limit: int) -> None:
    whole, cut = bert_uncased().encode(text, 10_000), bert_uncased().encode(text, limit)
    assert len(cut) == min(limit, len(whole))
    assert cut[:-1] == whole[: len(cut) - 1]
    assert (cut[0], cut[-1]) == (CLS, SEP)


@given(st.text(max_size=100))
def test_case_and_composition_do_not_matter(text: str) -> None:
    composed = unicodedata.normalize("NFC", text)
    assert words_of(composed) == words_of(unicodedata.normalize("NFD", text))
    assert words_of(" ".join(words_of(text))) == words_of(text)


@given(st.from_regex(r"[ -~]*", fullmatch=True))
def test_upper_case_is_lower_case(text: str) -> None:
    assert bert_uncased().encode(text.upper(), 256) == bert_uncased().encode(text.lower(), 256)
