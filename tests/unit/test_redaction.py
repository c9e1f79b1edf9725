"""Cutting private spans and our own text, and replacing secrets."""

from __future__ import annotations

import base64
import random
import re
import string
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parsing  # type: ignore[attr-defined]
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.redaction import VERSION, Policy, Redacted, cut_own, cut_private, ledger, policy, redact
from subconscious.redaction.command_rules import RULES as ARGUMENTS
from subconscious.redaction.context_rules import RULES as PLACES
from subconscious.redaction.gitleaks import VERSION as GITLEAKS
from subconscious.redaction.gitleaks import python_pattern
from subconscious.redaction.gitleaks import rules as gitleaks_rules
from subconscious.redaction.numbered_words import RULES as NUMBERED
from subconscious.redaction.paired_rules import RULES as PAIRS
from subconscious.redaction.passphrases import RULES as PASSPHRASES
from subconscious.redaction.personal import RULES as PERSONAL
from subconscious.redaction.rule import Rule, compiled
from subconscious.redaction.shapes import RULES as SHAPES
from subconscious.redaction.spoken_rules import RULES as SPOKEN

ROOT = Path(__file__).resolve().parents[2]
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
        ("password: Gl4ze&Twice", "Gl4ze&Twice"),
        ("das Passwort lautet Gl4ze!Twice", "Gl4ze!Twice"),
        ("la contrase\u00f1a es Gl4ze!Twice", "Gl4ze!Twice"),
        ("le mot de passe est Gl4ze!Twice", "Gl4ze!Twice"),
        ("a senha \u00e9 Gl4ze!Twice", "Gl4ze!Twice"),
        ("\u30d1\u30b9\u30ef\u30fc\u30c9\u306fGl4ze!Twice\u3067\u3059", "Gl4ze!Twice"),
        ("\u5bc6\u7801\uff1aGl4ze!Twice", "Gl4ze!Twice"),
        ("SECRET_KEY = 'a8$k2!x@c9z(7q#m4v^b1n&0w*e5r-t6'", "a8$k2!x@c9z(7q#m4v^b1n&0w*e5r-t6"),
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
        "das Passwort ist in der Datei config2.yml",
        "secret_key: 'https://vault.local/v1/a?b=c&d=1,2,3&e=4/this/path'",
        "SECRET_KEY = '${ENV.SECRET_KEY_123:-default(1)}/abc/def/ghi/jkl'",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert redact(text) == Redacted(text)


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
    assert redact(once) == Redacted(once)


OWN = [*SHAPES, *PLACES, *SPOKEN, *PASSPHRASES, *NUMBERED, *ARGUMENTS, *PAIRS]
EVERY = [*OWN, *gitleaks_rules(), *(rule for rules in PERSONAL.values() for rule in rules)]


@pytest.mark.parametrize("rule", EVERY, ids=lambda rule: rule.kind)
def test_no_pattern_can_run_away(rule: Rule) -> None:
    """Every repeat is bounded or possessive; a repeat within another one has at most seven steps or is possessive."""
    for code, least, most, within in _repeats(parsing.parse(rule.pattern)):
        assert most is not codes.MAXREPEAT or code is codes.POSSESSIVE_REPEAT
        assert not (within and least != most and most > 7) or code is codes.POSSESSIVE_REPEAT


def _repeats(parsed: Any) -> Iterator[tuple[Any, int, int, bool]]:
    for code, value in parsed:
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            least, most, inner = value
            inside = list(_repeats(inner))
            yield code, least, most, any(low != high for _, low, high, _ in inside)
            yield from inside
        elif code is codes.SUBPATTERN:
            yield from _repeats(value[3])
        elif code is codes.BRANCH:
            for branch in value[1]:
                yield from _repeats(branch)
        elif code in (codes.ASSERT, codes.ASSERT_NOT):
            yield from _repeats(value[1])


@pytest.mark.parametrize("rule", EVERY, ids=lambda rule: rule.kind)
def test_every_hint_is_such_as_is_looked_for(rule: Rule) -> None:
    assert compiled(rule.pattern)
    assert all(hint == hint.lower() and hint for hint in rule.hints)


@pytest.mark.parametrize(
    ("go", "text", "found"),
    [
        (r"a(?i)b|c", "C aB", ["C", "aB"]),
        (r"(x(?i)y|z)w", "xYw Zw zW", ["xY", "Z"]),
        (r"[[a-z]+\z", "ab[c", ["ab[c"]),
        (r"k{2,}", "k kkkk", ["kkkk"]),
    ],
)
def test_patterns_of_go_mean_the_same(go: str, text: str, found: list[str]) -> None:
    assert re.findall(python_pattern(go), text) == found


CONFIG = [
    ("DB_PASSWORD={}", "tig3rlily"),
    ("APASS: {}", "tR7kQ2vX9pLm4"),  # a name, and no line of a test runner
    ("DB_PASSWORD={}", "tigerlily"),
    ("spring.datasource.password={}", "kxmzqv"),
    ("  password: {}", "qwmzxk"),
    ('"password": "{}",', "kqzmw"),
    ("define('DB_PASSWORD', '{}');", "wqkzmx"),
    ("$db_pass = '{}';", "kzqw"),
    ("<password>{}</password>", "kzqwmx12"),
    ('<add key="SmtpPassword" value="{}" />', "kzqwmx12"),
    ("jdbc:mysql://h/db?user=root&password={}", "kzqwmx"),
    ("Server=x;Uid=sa;Pwd={};", "kzqwm1x"),
    ('requests.get(url, auth=("admin", "{}"))', "kzq12wmx"),
    ("PGPASSWORD={} psql -h db", "kzqwmx"),
    ('user.setPassword("{}");', "kzqwmx1"),
    ('passwd := "{}"', "kzqwmx"),
    ("'PASSWORD': '{}',", "kzqwmx"),
    ("password => '{}',", "kzqwmx"),
    ("machine kiln.local login x password {}", "kzqwm12x"),
    ("JWT_SECRET={}", "kzqwmxvbnrt"),
    ("_authToken={}", "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"),
    ("X-Api-Key: {}", "0a1b2c3d4e5f60718293a4b5c6d7e8f9"),
    ("Authorization: Token {}", "0a1b2c3d4e5f60718293a4b5"),
    ("curl -H 'Authorization: Basic {}' kiln.local", "YWRtaW46czNjcjN0IQ=="),
    ("openssl rsa -passin pass:{}", "kzq12wmx"),
    ("the admin password is {}", "Kzqw12mx!"),
    ("ALTER USER kiln IDENTIFIED BY {};", "Kzqw12mx"),
    ("CREATE ROLE kiln WITH LOGIN PASSWORD '{}';", "Kzqw12mx"),
    ("redis://:{}@cache:6379", "kzqwmx"),
]


@pytest.mark.parametrize(("line", "value"), CONFIG)
def test_passwords_in_settings_and_commands(line: str, value: str) -> None:
    redacted = redact(f"before\n{line.format(value)}\nafter")
    assert value not in redacted.text
    assert redacted.text.startswith("before\n")
    assert redacted.text.endswith("\nafter")


@pytest.mark.parametrize(
    "text",
    [
        "    --- PASS: TestCheckpointID_Path/#00 (0.00s)",
        "proxy_pass http://localhost:3001;",
        "interface Login { password: string; token: string }",
        "password: Optional[str] = None",
        "def login(user, password=None): ...",
        "const password = req.body.password",
        "label: 'Password', placeholder: 'Enter your password'",
        "encryptFor(publicKey: Uint8Array, privateKey: Uint8Array)",
        "toolu_01WuT8wLn4R6oPRMnGBsWbMg",
        "PASSWORD=${DB_PASSWORD} docker compose up",
        "password: <your password>",
        "tokens: 1024, token_count=52, max_tokens: 4096",
        "4.7 of 16 GB; 127.0.0.1:8080; 2026-01-27T10:20:13Z",
    ],
)
def test_development_is_full_of_such_words(text: str) -> None:
    assert redact(text) == Redacted(text)


TEXTS = st.lists(
    st.sampled_from(
        [
            *SAMPLES.values(),
            *("password=", "token: ", "'", '"', " ", "\n", "<private>", "</private>", "xyz12Ab", "[redacted: ", "]"),
            *("Authorization: ", "Bearer ", "://kiln:", "@", "-p ", "--password ", "4111 1111 1111 1111", "ABSK" * 30),
        ]
    )
    | st.text(max_size=8)
).map("".join)
ALL = Policy(dict.fromkeys((policy.SECRETS, *policy.PERSONAL), policy.REDACT))


@given(TEXTS, st.sampled_from([None, ALL, Policy({policy.SECRETS: policy.MASK}), Policy({policy.SECRETS: "block"})]))
def test_redacting_twice_is_redacting_once(text: str, held: Policy | None) -> None:
    once = redact(text, held).text
    assert redact(once, held) == Redacted(once)


PERSONS = {
    "payment": ("4111 1111 1111 1111", "card number"),
    "email": ("ada.lovelace@kiln.dev", "email address"),
    "phone": ("+44 20 7946 0958", "phone number"),
    "ip": ("51.159.136.32", "IP address"),
}


@pytest.mark.parametrize("sort", PERSONS)
def test_personal_data_is_handled_by_the_settings(sort: str) -> None:
    value, kind = PERSONS[sort]
    text = f"reach it at {value}, said Ada"
    assert redact(text, Policy({sort: policy.OFF})).text == text
    assert redact(text, Policy({sort: policy.REDACT})).text == f"reach it at [redacted: {kind}], said Ada"
    assert redact(text, Policy({sort: policy.BLOCK})).text == f"[blocked: {kind}]"
    warned = redact(text, Policy({sort: policy.WARN}))
    assert (warned.text, warned.count, len(warned.detections)) == (text, 0, 1)
    masked = redact(text, Policy({sort: policy.MASK})).text
    assert value not in masked
    assert f"[masked: {kind}" in masked


@pytest.mark.parametrize(
    "text",
    [
        "4111 1111 1111 1112",
        "0000000000000000",
        "git@github.com",
        "ada@example.com",
        "10.0.0.1",
        "1.2.3",
        "555-1234",
        "12:30:45",
    ],
)
def test_data_that_identifies_nobody_stays(text: str) -> None:
    assert redact(text, ALL) == Redacted(text)


def test_what_a_person_allowed_passes_and_nothing_else() -> None:
    one, two = "password = 'kzq12wmx'", "password = 'wmx12kzq'"
    held = Policy(key=b"salt")
    (find,) = redact(one, held).detections
    assert "kzq12wmx" not in repr(find)
    lenient = Policy(key=b"salt", allowed=frozenset({find.hash}))
    assert redact(one, lenient).text == one
    assert redact(two, lenient).count == 1
    assert redact(one, Policy(key=b"other salt", allowed=frozenset({find.hash}))).count == 1


def test_findings_are_recorded_with_place_and_without_value() -> None:
    ledger.take()
    with ledger.reading("session/one"):
        ledger.note(redact("password = 'kzq12wmx'").detections)
    (entry,) = ledger.take()
    assert (entry.place, entry.find.kind, entry.find.length) == ("session/one", "password", 8)
    assert "kzq12wmx" not in repr(entry)
    assert ledger.take() == []


def test_a_long_token_is_taken_out_whole() -> None:
    token = "hvs." + "aB3dE5gH7j" * 90
    assert redact(f"VAULT {token} end").text == "VAULT [redacted: Vault token] end"


def test_the_version_names_the_external_rules() -> None:
    assert VERSION.endswith(f"gitleaks-{GITLEAKS}")


def test_no_rule_is_read_before_a_text_is() -> None:
    """A daemon's start must not wait for two hundred rules."""
    asked = "import sys, subconscious.redaction; print([name for name in sys.modules if 'gitleaks' in name])"
    ran = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True, cwd=ROOT)
    assert ran.stdout == "[]\n"


@pytest.mark.parametrize(
    "text",
    [
        '{"password": "kzq12wmx"}',
        '{"password": "a1[b]c!d}e", "x": 1}',
        "{'password': 'kzq12wmx'}",
        '["password: a1[b]c!d}e"]',
    ],
)
def test_a_password_ends_where_its_quotation_does(text: str) -> None:
    changed = redact(text).text
    assert "[redacted: password]" in changed
    assert [changed.count(sign) for sign in "\"'{"] == [text.count(sign) for sign in "\"'{"]


ALPHANUMERIC = string.ascii_letters + string.digits
HEXADECIMAL = "0123456789abcdef"


def drawn(drawing: random.Random, form: str) -> str:
    """A token of a form: ``{h32}`` is 32 hexadecimal digits, ``{a..}`` letters and digits, ``{d..}`` digits."""
    alphabets = {"a": ALPHANUMERIC, "h": HEXADECIMAL, "d": string.digits, "l": string.ascii_lowercase + string.digits}
    form = form.replace("{uuid}", "{h8}-{h4}-{h4}-{h4}-{h12}")
    return re.sub(r"{(\w)(\d+)}", lambda m: "".join(drawing.choices(alphabets[m[1]], k=int(m[2]))), form)


DOCUMENTED = {
    "Asana": "1/{d16}:{h32}",
    "Mapbox": "sk.eyJ{a80}.{a22}",
    "LaunchDarkly": "sdk-{uuid}",
    "Langfuse": "sk-lf-{uuid}",
    "Plaid": "access-production-{uuid}",
    "HubSpot": "pat-na1-{uuid}",
    "Tencent": "AKID{a32}",
    "Zapier": "https://hooks.zapier.com/hooks/catch/{d7}/{l6}/",
    "Teams": "https://acme.webhook.office.com/webhookb2/{uuid}@{uuid}/IncomingWebhook/{h32}/{uuid}",
    "Elastic": "essu_{a60}==",
    "LangSmith": "lsv2_pt_{h32}_{h10}",
    "Cerebras": "csk-{l48}",
    "Aiven": "AVNS_{a19}",
    "Neon": "napi_{l64}",
    "Infisical": "st.{uuid}.{h32}.{h32}",
}
"""Formats as the documentation of each service shows them."""


@pytest.mark.parametrize("service", DOCUMENTED)
@pytest.mark.parametrize("seed", range(5))
def test_a_token_of_a_documented_format_is_redacted_wherever_it_is(service: str, seed: int) -> None:
    token = drawn(random.Random(f"{service} {seed}"), DOCUMENTED[service])
    for text in (f"we tried it with {token} and it worked", f'curl -d "{token}"', f"({token})"):
        left = redact(text).text
        assert token not in left
        assert token[-10:] not in left


@pytest.mark.parametrize("seed", range(5))
def test_a_personal_token_of_jira_is_redacted(seed: int) -> None:
    drawing = random.Random(seed)
    content = drawn(drawing, "{d12}:").encode() + drawing.randbytes(20)
    token = base64.b64encode(content).decode()
    assert token not in redact(f"we tried it with {token} and it worked").text
    words = base64.b64encode(b"123 is the number of the beast..").decode()
    assert words in redact(f"it is {words} here").text
