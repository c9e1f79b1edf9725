"""Questions that were typed without a question mark."""

from __future__ import annotations

import pytest

from subconscious.capture.detectors import typed
from subconscious.capture.judge import Opinion
from subconscious.domain.model import Origin, Role, Turn
from subconscious.text.question import is_question


@pytest.mark.parametrize(
    "text",
    [
        "what db are we on and where is the file",
        "where is the config file",
        "which db do we use for tests",
        "how do we deploy to staging",
        "what port does the api listen on",
        "hey where's the fixture",
        "what is the ttl",
        "ok how many workers do we run",
        "welche db nutzen wir und wo liegt die datei",
        "wo liegt die datei mit den fixtures",
        "wie starte ich den server",
        "was ist der port von staging",
        "wer hat zugriff auf prod",
        "quelle base on utilise et où est le fichier",
        "comment on déploie sur staging",
        "où est la config",
        "qué base de datos usamos y dónde está el archivo",
        "cómo corro los tests",
        "dónde está la config",
        "qual banco a gente usa e onde fica o arquivo",
        "onde fica o arquivo de config",
        "como faço o deploy",
    ],
)
def test_a_question_is_recognised_by_its_beginning(text: str) -> None:
    assert is_question(text)


@pytest.mark.parametrize(
    "text",
    [
        "what we store is always cents",
        "where possible use the shared client",
        "what goes in web/ stays in typescript",
        "when you deploy, run the migrations first",
        "how we deploy is described in docs/deploy.md",
        "what matters is that we keep the api stable",
        "what is in web/ stays typescript",
        "who is on call decides",
        "where do we deploy: fly.io",
        "which is why we use uuid",
        "when in doubt ask",
        "when the build is red stop",
        "whatever lena says goes",
        "how many times, no unwrap",
        "wo möglich den shared client nutzen",
        "wie gesagt kein npm",
        "wie immer mit pnpm",
        "wer deployt schreibt in den kanal",
        "was wir speichern ist immer cents",
        "wenn du deployst, zuerst migrieren",
        "combien de fois, pas de npm",
        "quand tu déploies, lance les migrations",
        "quelle que soit la branche, pas de force push",
        "como te dije nada de npm",
        "donde sea posible usa el cliente compartido",
        "cuando hagas deploy, corre las migraciones",
        "como eu disse sem npm",
        "quando fizer deploy, rode as migrações",
        "onde der use o cliente compartilhado",
        "cuántas veces: nada de unwrap",
        "what breaks is the cache",
        "why do i always have to tell you to close the cursor",
        "quem cuida da integração é a Jussara",
        "what you see in prod is behind a proxy",
        "which tests are slow go in tests/slow",
        "who owns billing: lena",
        "what is deprecated gets removed in v2",
        "how to deploy is in docs/deploy.md",
        "what the api returns is always utc",
    ],
)
def test_a_statement_that_begins_like_one_is_none(text: str) -> None:
    assert not is_question(text)


def test_a_question_is_no_candidate() -> None:
    turn = Turn("t", "s", Role.USER, Origin.USER, "wo liegt die datei mit den fixtures", 1.0, "f", 0, 1)
    assert not typed.extract([turn], dict.fromkeys(typed.spoken(turn), Opinion(1.0, "fact")))
