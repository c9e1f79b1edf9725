"""Cutting private spans and our own text, and replacing secrets."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.redaction import cut_own, cut_private, redact

BODY = "MIIEow" + "Ab3+/" * 20
SAMPLES = {
    "AWS key": "AKIA" + "Q3EGRIFT5ZABCDEF",
    "GitHub token": "ghp_" + "a1B2c3D4e5F6" * 3,
    "GitLab token": "glpat-" + "a1B2c3D4e5F6-x8Y9z7Q",
    "Slack token": "xoxb-" + "1234567890-abcdefghij",
    "Stripe key": "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc",
    "Anthropic key": "sk-ant-api03-" + "aB3dE5" * 8,
    "OpenAI key": "sk-proj-" + "aB3dE5" * 8,
    "Google key": "AIza" + "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q",
    "npm token": "npm_" + "a1B2c3D4e5F6" * 3,
    "PyPI token": "pypi-AgE" + "IcHlwaS5vcmc" * 5,
    "JWT": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
    "private key": f"-----BEGIN RSA PRIVATE KEY-----\n{BODY}\n-----END RSA PRIVATE KEY-----",
}


@pytest.mark.parametrize(("kind", "secret"), SAMPLES.items())
@pytest.mark.parametrize("frame", ["{}", "the key is {} here", "line\\n{}\\n", '"{}"', "x={};"])
def test_a_secret_is_replaced_and_its_surroundings_stay(kind: str, secret: str, frame: str) -> None:
    assert redact(frame.format(secret)).text == frame.format(f"[redacted: {kind}]")


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("curl -H 'Authorization: Bearer q8Zt3Lm9Wx2Rk7Vb5Nc1'", "q8Zt3Lm9Wx2Rk7Vb5Nc1"),
        ("Authorization: Basic YWRtaW46czNjcjN0IQ==", "YWRtaW46czNjcjN0IQ=="),
        ("postgres://kiln:gl4ze!t@db.local/cones", "gl4ze!t"),
        ("deploy --password 'Gl4ze!Twice'", "Gl4ze!Twice"),
        ("deploy --token=q8Zt3Lm9Wx2Rk7Vb", "q8Zt3Lm9Wx2Rk7Vb"),
        ("mysql -u kiln -pGl4ze!Twice cones", "Gl4ze!Twice"),
        ("sshpass -p Gl4ze!Twice ssh kiln", "Gl4ze!Twice"),
        ("curl -u kiln:Gl4ze!Twice https://kiln.local", "Gl4ze!Twice"),
        ('API_KEY="q8Zt3Lm9Wx2Rk7Vb"', "q8Zt3Lm9Wx2Rk7Vb"),
        ("kiln_secret: q8Zt3Lm9Wx2Rk7Vb", "q8Zt3Lm9Wx2Rk7Vb"),
        ("password := `Gl4ze!Twice`", "Gl4ze!Twice"),
    ],
)
def test_a_secret_is_known_by_its_place(text: str, secret: str) -> None:
    redacted = redact(text)
    assert secret not in redacted.text
    assert redacted.count == 1


@pytest.mark.parametrize(
    "text",
    [
        "password = os.environ['DB_PASSWORD']",
        "token: string; max_tokens=4096, tokens: 128000",
        "use the --token flag and the --password option",
        "https://user:password@example.com",
        "const secret = getSecret(name)",
        "Authorization: Bearer $TOKEN",
        "Authorization: Bearer <your token>",
        "commit 3f1c9a7d2b8e4f6a5c0d1e2f3a4b5c6d7e8f9a0b",
        "sha512-q8Zt3Lm9Wx2Rk7Vb5Nc1q8Zt3Lm9Wx2Rk7Vb5Nc1==",
        'strings.Contains(s, "-----BEGIN RSA PRIVATE KEY-----")',
        "CountTokens: 5.23ms",
        "secret = lib/secrets/reader.py",
        "sk-learn and task-based work, desk-sized",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert redact(text) == (type(redact(text)))(text, 0)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a <private>b</private> c", "a  c"),
        ("a <PRIVATE>b</Private> c", "a  c"),
        ("a <private>b <private>c</private> d</private> e", "a  e"),
        ("a <private>b", "a "),
        ("a <private reason='x'>b</private>c", "a c"),
        ("a <private-key>b", "a <private-key>b"),
        ("<private>a</private>b<private>c</private>d", "bd"),
    ],
)
def test_private_spans_are_cut(text: str, kept: str) -> None:
    assert cut_private(text) == kept


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a <subconscious-memory session='x'>b</subconscious-memory> c", "a  c"),
        ("a <subconscious-memory>b", "a "),
        ("our <subconscious-memories> stay", "our <subconscious-memories> stay"),
    ],
)
def test_our_own_text_is_cut(text: str, kept: str) -> None:
    assert cut_own(text) == kept


@given(st.text(), st.text(alphabet="ab<>/ private"))
def test_nothing_private_is_left(before: str, inside: str) -> None:
    cut = cut_private(f"{before}<private>{inside}MARK")
    assert "MARK" not in cut or "</private>" in inside


@given(st.lists(st.sampled_from(["<private>", "</private>", "x", SAMPLES["JWT"], "-----BEGIN PRIVATE KEY-----", BODY])))
def test_redacting_again_finds_nothing(parts: list[str]) -> None:
    once = redact(" ".join(parts)).text
    assert redact(once) == (type(redact(once)))(once, 0)


@pytest.mark.parametrize(
    "unit",
    [
        *("a", " ", "<", "eyJ", "-eyJaaaaaaaaaa", "://a:", "-----BEGIN PRIVATE KEY-----", "password=", "login -p"),
        *("mysql ", "curl -u ", "bearer ", "glpat-", "<private ", "token:   ", "identified by '"),
    ],
)
def test_hostile_text_costs_little(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    began = time.perf_counter()
    redact(cut_own(cut_private(text)))
    assert time.perf_counter() - began < 3
