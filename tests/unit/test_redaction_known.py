"""Secrets that are repeated, divided, coloured or encoded, and those of other texts; values are made up at run time."""

from __future__ import annotations

import base64
import hashlib
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious import redaction
from subconscious.redaction import KnownSecrets, Policy, Redacted, ledger, policy, readings, redact, wallets

DRAWN = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
WORDS = Path(redaction.__file__).with_name("bip39-english.txt").read_text().split()


def drawn(length: int, signs: str = DRAWN, seed: int = 7) -> str:
    """A value like a service's, the same in every run, with a digit in every four characters."""
    chance = random.Random(seed)
    return "".join(chance.choice("23456789") if at % 4 == 3 else chance.choice(signs) for at in range(length))


HEX = "0123456789abcdef"
GITHUB = "ghp_" + drawn(36)
PASSWORD = "Kz!" + drawn(7) + "(q)#"


def base58(raw: bytes) -> str:
    number, text = int.from_bytes(raw, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        text = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"[digit] + text
    return text


def wallet_key(*, compressed: bool = True, sound: bool = True) -> str:
    body = b"\x80" + hashlib.sha256(b"a test").digest() + (b"\x01" if compressed else b"")
    checksum = hashlib.sha256(hashlib.sha256(body).digest()).digest()[:4]
    return base58(body + (checksum if sound else bytes(4)))


def phrase(words: int = 12) -> list[str]:
    return random.Random(3).sample(WORDS, words)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("password: {} ... then login with {}", "k3z9-qWmx"),
        ("Log in with {} (it is the API_KEY={}), and again {}.", drawn(20)),
        ('the key {} is bare; api_key = "{}"', drawn(24)),
        ("account:{} password:{}", "kzqPr134Gg!"),
    ],
)
def test_all_repetitions_of_a_secret_are_removed(text: str, value: str) -> None:
    assert value not in redact(text.format(*[value] * 3)).text


def test_a_repeated_secret_is_known_in_base64() -> None:
    value = drawn(24)
    coded = base64.b64encode(f"{value}\n".encode()).decode().rstrip("=")
    assert coded not in redact(f"api_key = '{value}'\n  stored: {coded}==").text


@pytest.mark.parametrize("value", ["postgres", "kiln", "tigerlily"])
def test_an_ordinary_word_that_is_a_password_stays_elsewhere(value: str) -> None:
    left = redact(f"DB_PASSWORD={value}\n{value} is the database").text
    assert left.endswith(f"{value} is the database")


def test_part_of_a_longer_word_is_no_repetition() -> None:
    assert redact("password: k3zq9w\nk3zq9wx stays").text == "password: [redacted: password]\nk3zq9wx stays"


@pytest.mark.parametrize("escape", ["\x1b", "\\u001b", "\\x1b", "\\033", "\\e"])
def test_terminal_codes_hide_no_token(escape: str) -> None:
    hidden = f"{GITHUB[:9]}{escape}[1;31m{GITHUB[9:]}{escape}[0m"
    assert redact(f"{escape}[94mtoken {hidden} done").text.endswith(f"[redacted: GitHub token]{escape}[0m done")


def test_invisible_characters_hide_no_token() -> None:
    assert redact(f"see \u200b{GITHUB[:7]}\u200b{GITHUB[7:]} there").text == "see \u200b[redacted: GitHub token] there"


@pytest.mark.parametrize(
    "divide",
    [
        lambda token: f"{token[:20]}\n{token[20:]}",
        lambda token: f"{token[:20]}\r\n    {token[20:]}",
        lambda token: f'"{token[:20]}" +\n    "{token[20:]}"',
        lambda token: f"{token[:20]}\\\n{token[20:]}",
        lambda token: " ".join(token),
        lambda token: " ".join(token[at : at + 4] for at in range(0, len(token), 4)),
    ],
)
def test_a_divided_token_is_put_together(divide: Callable[[str], str]) -> None:
    divided = divide(GITHUB)
    redacted = redact(f"first line\n{divided}\nlast line")
    assert redacted.text.startswith("first line\n")
    assert redacted.text.endswith("\nlast line")
    assert not any(part in redacted.text for part in (GITHUB[4:12], GITHUB[24:32], divided))


def test_words_after_a_token_are_no_part_of_it() -> None:
    assert redact(f"{GITHUB}\nnext line").text == "[redacted: GitHub token]\nnext line"
    ordinary = "tokens begin with ghp_ and the other words of this line are short ones\nand so on"
    assert redact(ordinary) == Redacted(ordinary)


@pytest.mark.parametrize("inner", [GITHUB, f"password={drawn(12)}", f"https://kiln:{drawn(12)}@kiln.local"])
def test_base64_of_a_secret_goes(inner: str) -> None:
    coded = base64.b64encode(inner.encode()).decode()
    assert coded.rstrip("=") not in redact(f"value {coded} end").text


def test_base64_of_ordinary_text_stays() -> None:
    text = base64.b64encode(b"The kiln is fired on Thursdays only.").decode()
    assert redact(text) == Redacted(text)


SHAPES = [
    ("Telegram token", "123456789:AA" + drawn(33)),
    ("Mailgun key", "key-" + drawn(32, HEX)),
    ("Mailgun key", f"{drawn(32, HEX)}-{drawn(8, HEX)}-{drawn(8, HEX)}"),
    ("Hugging Face token", "hf_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH"),
    ("Jenkins secret", "{AQAAABAAAA" + drawn(44) + "=}"),
    ("wallet key", wallet_key()),
    ("wallet key", wallet_key(compressed=False)),
]


@pytest.mark.parametrize(("kind", "token"), SHAPES)
@pytest.mark.parametrize("frame", ["{}", "use {} here", "<secret>{}</secret>"])
def test_tokens_are_known_by_shape(kind: str, token: str, frame: str) -> None:
    assert token not in redact(frame.format(token)).text
    assert redact(f"use {token} here").text == f"use [redacted: {kind}] here"


def test_a_wallet_key_needs_its_checksum() -> None:
    match = wallets._WORD.match("x")
    assert match
    assert wallets.is_private_key(match, wallet_key())
    assert not wallets.is_private_key(match, wallet_key(sound=False))


@pytest.mark.parametrize("words", [12, 15, 18, 24])
@pytest.mark.parametrize("form", ["{}", "numbered", "lines"])
def test_seed_phrases_go(words: int, form: str) -> None:
    chosen = phrase(words)
    said = {
        "{}": " ".join(chosen),
        "numbered": " ".join(f"{at}. {word}" for at, word in enumerate(chosen, 1)),
        "lines": "\n".join(chosen),
    }[form]
    left = redact(f"The backup of the device reads: {said}. Keep them.").text
    assert left.replace(" 1. ", " ") == "The backup of the device reads: [redacted: seed phrase]. Keep them."


def test_fewer_words_and_prose_are_no_seed_phrase() -> None:
    text = f"{' '.join(phrase(11))} the end. {'word ' * 30}"
    assert redact(text) == Redacted(text)


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("Cookie: session={}; theme=dark", drawn(32)),
        ("set-cookie: sid={}; Path=/; HttpOnly", drawn(24)),
        ("curl -b 'session={}' https://kiln.local", drawn(24)),
        ("aws id AKIA" + "Q3EGRIFT5ZABCDEF" + " and {}", drawn(20) + "/" + drawn(19, seed=9)),
        ("<secret>{}</secret>", drawn(20)),
        ('password: "{}"', PASSWORD),
        ("PASSWORD={}", PASSWORD),
        ("Kennwort: {}", drawn(10)),
        ("the staging key that they gave us is {}", drawn(28)),
        ("kiln_service: {}", drawn(24)),
        ('"k":"{}","kty":"oct"', drawn(32)),
        ("AES_KEY = bytes([{}])", ", ".join(f"0x{at * 13 % 256:02x}" for at in range(16))),
        ("api_key=" + "{}", "bsfcvir57nt40rydvtbhs8lzbgljmet5"),
        ("Das Passwort f\u00fcr den Kiln-Server ist {}, Benutzer ofen.", PASSWORD),
        ("la contrase\u00f1a del admin de Kiln es {} y no caduca", PASSWORD),
        ("\u043f\u0430\u0440\u043e\u043b\u044c \u043e\u0442 \u0431\u0430\u0437\u044b: {}", PASSWORD),
        ("l\u00f6senordet till kiln.local \u00e4r {}", PASSWORD),
        ("log in as root with {} first", PASSWORD),
        ("Backup codes: {}.", "k3zq-9wmx, 7hd2-p0xk, zz3k-1m9c"),
        ("Backup codes:\n1. {}\n\nkeep them", "k3zq-9wmx\n2. 7hd2-p0xk\n3. zz3k-1m9c"),
        ("kiln_tool = kfd_{}", "aB3_cD4-eF5gH6iJ7kL8mN9oP0qR1sT2uV3wX4yZ"),
    ],
)
def test_values_are_known_by_their_place(line: str, value: str) -> None:
    redacted = redact(f"before\n{line.format(value)}\nafter")
    assert value not in redacted.text
    assert redacted.text.startswith("before\n")
    assert redacted.text.endswith("\nafter")


@pytest.mark.parametrize(
    "text",
    [
        f"objects/pack/pack-{hashlib.sha1(b'x', usedforsecurity=False).hexdigest()}.idx",
        f"pack-{hashlib.sha1(b'y', usedforsecurity=False).hexdigest()}",
        "if (!apiKey || !appKey2) return;",
        "const ok = apiKey && !otherKey1 ? token!.length : secret!.value2",
        f'"node_id": "{drawn(24)}"',
        f"the commit of the key rotation is {hashlib.sha1(b'z', usedforsecurity=False).hexdigest()}",
        f"integrity sha512-{drawn(40)}",
        "cookie: theme=dark; lang=en",
        "public const X509_pubkey_store = struct_X509_pubkey_store;",
        "The password of the admin is stored in vault/kiln2.",
        "The password for kiln.local was changed on 2026-03-02.",
        "Das Passwort ist in 1Password, Fach Kiln-Test-2.",
        "Log in with OAuth2 or with your GitHub-Account1.",
        "sign in with kiln-2@example.com first",
        "Error codes:\nE1001, E1002",
        "Recovery code paths are tested in\ntest_recovery",
        "const MAX_RETRIES_BEFORE_FALLBACK_TO_THE_OLDER_KILN_CLIENT = 3",
    ],
)
def test_what_looks_like_a_secret_stays(text: str) -> None:
    assert redact(text) == Redacted(text)


@pytest.fixture
def held() -> Policy:
    return Policy(key=b"salt", known=KnownSecrets())


def test_a_secret_of_another_text_is_known_by_its_hash(held: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "_in_use", [held])
    value = "kz9q-wmx7!t"
    for bare in (f"it opens to {value}.", f"'{value}'", f"https://kiln.local/{value}?x", f"a={value},"):
        assert redact(bare) == Redacted(bare)
    ledger.note(redact(f"password: {value}").detections)
    for bare in (f"it opens to {value}.", f"'{value}'", f"https://kiln.local/{value}?x", f"a={value},"):
        assert value not in redact(bare).text
    coded = base64.b64encode(f"{value} is what opens it".encode()).decode()
    assert coded.rstrip("=") not in redact(coded).text
    assert held.known.pop_changed()
    assert not held.known.pop_changed()


def test_a_word_is_not_known_elsewhere(held: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "_in_use", [held])
    ledger.note(redact("DB_PASSWORD=postgres").detections)
    assert redact("we use postgres").count == 0
    assert not held.known.pop_changed()


def test_what_a_person_allowed_is_not_known(held: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    value = drawn(12)
    held.known.load([(len(value), held.hash(value))])
    assert redact(f"bare {value}", held).count == 1
    allowing = Policy(key=held.key, known=held.known, allowed=frozenset({held.hash(value)}))
    assert redact(f"bare {value}", allowing).count == 0


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("ab12 cd34 ef56", "ab12cd34ef56"),
        ("averylongwordindeed ab12", "averylongwordindeed ab12"),
        ("ab12 averylongwordindeed", "ab12 averylongwordindeed"),
    ],
)
def test_only_short_groups_on_both_sides_of_a_space_are_joined(text: str, joined: str) -> None:
    assert readings.unspaced(text).text == joined


@given(st.lists(st.sampled_from(["\x1b[31m", "\u200b", "ab1", "\n", " ", "C2d", "\\x1b[0m", "+", '"'])))
def test_places_lead_back_to_the_text(parts: list[str]) -> None:
    text = "".join(parts)
    for reading in (readings.visible(text), readings.unwrapped(text), readings.unspaced(text)):
        places = [reading.original(at, at + 1)[0] for at in range(len(reading.text))]
        assert "".join(text[place] for place in places) == reading.text
        assert places == sorted(set(places))


@given(
    st.lists(
        st.sampled_from(
            [GITHUB[:20], GITHUB[20:], "\n", " ", "\x1b[0m", "abandon ", wallet_key(), "password: ", PASSWORD]
        )
    )
)
def test_redacting_again_changes_nothing(parts: list[str]) -> None:
    once = redact("".join(parts)).text
    assert redact(once).text == once


@pytest.mark.parametrize("form", ["Nebel%25Birne40519%21", base64.b64encode(b"Nebel%Birne40519!").decode()])
def test_a_known_value_is_found_in_other_forms(form: str) -> None:
    value = "Nebel%Birne" + "40519!"
    held = Policy(key=b"salt", known=KnownSecrets())
    held.known.load([(len(value), held.hash(value))])
    assert form not in redact(f"GET https://kiln.test/login?u=a&x={form} 401", held).text
    assert form in redact(f"GET https://kiln.test/login?u=a&x={form} 401", Policy(key=b"salt")).text


@pytest.mark.parametrize("stop", [".", ",", ";", ":", ")."])
def test_a_value_before_a_stop_is_known_in_other_texts(stop: str) -> None:
    value = "Nebel%Birne" + "40519"
    (find,) = redact(f"the kiln password is {value}{stop} thanks", Policy(key=b"salt")).detections
    assert (find.length, find.hash) == (len(value), Policy(key=b"salt").hash(value))


@pytest.mark.parametrize("value", ["Nebel%Birne" + "40519!", "!Nebel%Birne" + "40519", "=Nebel%Birne" + "40519?!"])
@pytest.mark.parametrize("frame", ['{"a":"%s"}', "'%s',", "(%s)", '[\\"%s\\"]'])
def test_a_known_value_with_a_sign_at_its_edge_is_found_between_quotes(value: str, frame: str) -> None:
    held = Policy(key=b"salt", known=KnownSecrets())
    held.known.load([(len(value), held.hash(value))])
    assert redact(frame.replace("%s", value), held).text == frame.replace("%s", "[redacted: known secret]")
