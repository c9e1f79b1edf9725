"""Which words of a query are searched for: words of its subject, in all their spellings."""

from __future__ import annotations

import pytest

from subconscious.recall.relevance import QueryTerms
from subconscious.store.connect import Database
from subconscious.store.projects import Project
from subconscious.text.synonyms import spellings
from subconscious.text.terms import names_a_subject, query_terms
from tests.support.minds import make_mind, store
from tests.unit.test_recall import found


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("wie lassen wir die Tests laufen?", ["tests", "laufen"]),
        ("Was machen wir mit dem Release, wenn die CI rot ist?", ["machen", "release", "ci", "rot"]),
        ("comment lancer les tests avec notre proxy ?", ["lancer", "tests", "proxy"]),
        ("\u00bfc\u00f3mo ejecutamos las pruebas?", ["ejecutamos", "pruebas"]),
        ("como rodamos os testes?", ["rodamos", "testes"]),
        ("hoe draaien wij de tests", ["draaien", "tests"]),
        ("why does the worker die on OOM", ["worker", "die", "oom"]),
        ("is the DER certificate for the DOS client", ["der", "certificate", "dos", "client"]),
        ("locale de or en", ["locale", "de", "en"]),
        ("wo ist es", ["wo", "ist", "es"]),
    ],
)
def test_function_words_of_the_query_s_language_are_left_out(asked: str, words: list[str]) -> None:
    assert query_terms(asked) == words


@pytest.mark.parametrize(
    "prompt",
    [
        *("yes", "no", "ok sure", "yes please", "ok, go ahead", "looks good", "sounds good, thanks!", "nope"),
        *("ja bitte", "klar, mach das", "nein danke", "passt", "genau so", "oui d'accord", "s'il te plaît", "vas-y"),
        *("sí, por favor", "vale", "sim, claro", "tá bom", "ok, use that, go", "good to go"),
    ],
)
def test_an_answer_alone_is_about_no_subject(prompt: str) -> None:
    assert not names_a_subject(prompt)


@pytest.mark.parametrize(
    ("prompt", "words"),
    [
        ("yes but with sqlx", ["sqlx"]),
        ("ja, redis", ["redis"]),
        ("go tests fail", ["go", "tests", "fail"]),
        ("use go", ["go"]),
        ("with vale please", ["vale"]),
        ("vale config", ["vale", "config"]),
        ("sim card form", ["sim", "card", "form"]),
        ("ok, and the cache?", ["cache"]),
        ("good first issue label", ["good", "first", "issue", "label"]),
    ],
)
def test_words_of_an_answer_are_no_words_of_a_query(prompt: str, words: list[str]) -> None:
    assert names_a_subject(prompt)
    assert query_terms(prompt) == words


def test_spellings_are_those_of_one_name() -> None:
    assert spellings("postgres") == ("postgresql",)
    assert spellings("postgresql") == ("postgres",)
    assert set(spellings("config")) >= {"configuration"}
    assert spellings("job") == ()
    assert spellings("staging") == ()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("should we move off Postgres already?", "Wir bleiben bei PostgreSQL 15."),
        ("is PostgreSQL ours?", "The ledger writes to postgres."),
        ("which mongo do we run", "The audit log stays in MongoDB 6."),
        ("do we build with NodeJS 20", "Node 22 is what the image has."),
        ("regex for the plate", "The regexp for plates lives in plates.toml."),
    ],
)
async def test_a_name_is_found_in_another_spelling(database: Database, project: Project, asked: str, said: str) -> None:
    wanted = await store(database, project, said)
    await store(database, project, "The kiln has a new door.")
    assert await found(make_mind(database), project, asked) == [wanted]
    assert QueryTerms.of(asked).terms_share(said) > 0


def test_a_name_counts_in_another_spelling() -> None:
    terms = QueryTerms.of("should we move off Postgres already?")
    assert terms.names_share("Wir bleiben bei PostgreSQL 15.") == 1.0
    assert terms.terms_share("Wir bleiben bei PostgreSQL 15.") == terms.terms_share("postgres") > 0


async def test_a_shared_word_counts_more_than_function_words(database: Database, project: Project) -> None:
    rule = await store(
        database, project, "Run the tests with `uv run pytest -q -x`, plain pytest picks up another venv."
    )
    other = await store(database, project, "F\u00fcr die Perf-Arbeit brauchen wir keine Migrationen, nur Indizes.")
    for number in range(5):
        await store(database, project, f"The tests of part {number} need a browser.")
    hits = await found(make_mind(database), project, "wie lassen wir die Tests laufen?")
    assert rule in hits
    assert other not in hits
