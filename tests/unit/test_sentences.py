"""Where sentences end: not after an abbreviation, an ordinal or an initial."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.capture.passages import passages
from subconscious.text.sentences import sentences
from subconscious.text.stops import ends_sentence


@pytest.mark.parametrize(
    "text",
    [
        "Bis 3. Januar nichts an der Datenbank ändern, danach kommt die Migration.",
        "Das Deployment-Freeze gilt bis 12. Dezember.",
        "Setz bitte immer die Timeout-Werte explizit, z.B. bei httpx, sonst hängt es.",
        "Setz immer Timeouts, z. B. bei httpx.",
        "Version 2. wird nicht mehr gepatcht",
        "Nimm immer u.a. Redis mit",
        "Nimm immer u. a. Redis mit",
        "Meetings sind immer am 2. des Monats",
        "Ab dem 1. gilt die neue Regel",
        "Ab dem 1. Januar gilt die neue Regel",
        "bis 31.12. keine Deploys",
        "vom 3. bis 5. Januar kein Deploy",
        "vom 24. Dezember bis zum 2. Januar ist Ruhe",
        "jeden 1. und 15. des Monats läuft der Job",
        "beim 2. Versuch abbrechen",
        "unsere 3. Umgebung ist staging",
        "im 4. Quartal keine neuen Features",
        "3. Januar ist Release",
        "ask J. Smith before deploying",
        "J. R. Smith owns billing",
        "the owner is Dr. Miller, ask him",
        "we run v2. and never v1",
        "use approx. 5 workers",
        "No. 5 is the staging server",
        "siehe Art. 6 DSGVO, Nr. 3 und Abs. 2 beachten",
        "max. 3 retries per call",
        "utilise des noms explicites, p. ex. dans les tests",
        "utilise p.ex. pytest toujours",
        "par ex. pytest",
        "usa siempre nombres claros, p. ej. en los tests",
        "por ej. pytest",
        "gebruik altijd timeouts, bijv. bij httpx",
        "använd alltid timeouts, t.ex. för httpx",
        "använd t. ex. httpx",
        "zawsze ustawiaj timeout, np. w httpx",
        "nastav timeout, např. v httpx",
        "požadavek č. 5 je hotový",
        "do 3. ledna nic neměnit",
        "käytä esim. httpx",
        "3. tammikuuta asti ei muutoksia",
        "ikke deploy før den 3. januar",
        "hver 2. uge kører vi backup",
        "vgl. RFC 7231 für die Statuscodes",
        "we use redis, kafka etc. for queues",
        "nutzt Redis, Kafka usw. für Queues",
        "Never use tools (redis, kafka etc.) for that",
        "deploys resp. releases only by Anna",
        "der Server läuft ca. 5 Minuten",
        "Deploys bzw. Releases nur durch Anna",
        "Keine Deploys bis 12. Dez. wegen Inventur",
        "use the U.S. locale for dates",
        "the S. Korea region is off limits",
        "i.d.R. nehmen wir Postgres",
        "c.-à-d. jamais le vendredi",
        "Der 1. Mai ist frei, kein Deploy",
        "Nutze Python ab Version 3. aufwärts",
        "Nicht vor dem 15. deployen",
        "Termin ist der 7. November 2026, vorher nichts ändern",
        "E-Mails an Hr. Müller und Fr. Schmidt",
        "Am 24. u. 31. Dez. wird nicht deployt",
        "non toccare il db, ad es. le tabelle",
        "Daten nie an 3. weitergeben",
        "das 2. Team macht Support",
        "Support macht Hr. Dr. Weber",
        "Prof. Weber entscheidet",
        "St. Gallen ist der Standort",
        "Setz Timeouts, z.B. so wie in httpx",
        "dokumentiere u.a. warum der Retry nötig ist",
        "u.U. kannst du das löschen",
        "Nimm Mocks, z. B. kannst du httpx mocken",
        "explain it in comments, e.g. why the loop is there",
        "never deploy at 9 a.m. when the batch runs",
        "companies in the U.S. are the exception",
        "customers in the u.s. update the address themselves",
        "never let jobs in the u.s. change the eu bucket",
        "deploy at 5 p.m. please and tell anna",
        "store logs in the U.S. where the auditors are",
        "der Job läuft am 3. wie im Januar",
        "runs on ca. 5 nodes",
    ],
)
def test_a_stop_inside_a_sentence_cuts_nothing(text: str) -> None:
    assert list(sentences(text)) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "we keep 3. Use tabs",
        "Das Limit liegt bei 5. Retries sind verboten",
        "we keep 3. use tabs everywhere",
        "max retries is 3. never raise it",
        "the port is 8080. Deploys run on fridays",
        "we take B. Use tabs",
        "take b. never use a",
        "No. Use tabs",
        "at 5 p.m. Never deploy after",
        "we use redis, kafka etc. Never use mongo",
        "we deploy to the U.S. We never deploy to China",
        "das gilt ab dem 1. Danach ist wieder alles normal",
        "wir treffen uns am 3. Bitte nichts planen",
        "Wir nutzen Version 2. Nie Version 1.",
        "Retries stehen auf 3. Nie ändern",
        "wir nutzen Redis, Kafka usw. Nie MongoDB",
        "Never commit .env. Use vault",
        "only python 3.12. never 3.11",
        "never edit main.py. It is generated",
        "I like C. Never use goto",
        "the freeze ends may 3. We deploy then",
        "run it in 2024. Then stop",
        "ok. 5 workers are enough",
        "Use the latest version. A new one is out",
        "it stays at v2. Never upgrade",
        "we are in phase 2. Phase 3 starts in May",
        "it is 5 a.m. Deploys are done",
        "the limit is 10. The rest waits",
        "it's plan B. We never deploy on friday",
        "use utf-8. always",
        "option A. Postgres stays off",
        "never deploy after 5 p.m. can you check why the pipeline ran?",
        "our search always runs on es. why is the query slow?",
        "our cert is always signed by the internal ca. why does curl complain?",
        "invoices go out in the name of acme ltd. why does the footer say gmbh?",
        "we never store data outside the U.S. why is the bucket in eu",
        "the deploy window is always 9 a.m. do you see it in the cron?",
        "never call the vendor before 9 a.m. fix the typo in the footer",
        "never use left-pad, is-odd etc. please update the readme",
        "nie redis, memcached usw. kannst du schauen warum das langsam ist?",
        "niemals nach 18 Uhr deployen o.ä. kannst du den cron prüfen?",
        "releases sind immer am 3. Kannst du das ins readme schreiben?",
        "rechnungen gehen immer am 15. warum lief der job gestern?",
        "wir patchen nie version 2. kannst du die doku anpassen?",
        "nunca despliegues en ee.uu. ¿por qué está en us-east?",
    ],
)
def test_a_sentence_that_clearly_begins_is_one_of_its_own(text: str) -> None:
    assert len(list(sentences(text))) == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("2. use tabs", ["use tabs"]),
        ("1. use tabs\n2. never use spaces", ["use tabs", "never use spaces"]),
        ("3) use tabs", ["use tabs"]),
        ("1. no line, 2. left most", ["no line, 2.", "left most"]),
        ("12. Dezember: Freeze", ["12. Dezember: Freeze"]),
        ("- Nie am 2. des Monats", ["Nie am 2. des Monats"]),
    ],
)
def test_the_number_of_a_list_item_is_no_ordinal(text: str, said: list[str]) -> None:
    assert list(sentences(text)) == said


def test_passages_of_the_assistant_are_not_cut_at_an_ordinal() -> None:
    text = "Das Deployment-Freeze gilt für alle bis 12. Dezember. " * 3
    assert all(text[one.start :].startswith("Das") for one in passages(text, 70))


@given(st.text(max_size=200))
def test_any_stop_is_judged(text: str) -> None:
    for at in range(len(text)):
        assert isinstance(ends_sentence(text, at), bool)


COMPILER = """ci is red, fix
error[E0277]: the trait bound is not satisfied
   --> crates/ingest/src/ingest.rs:88:14
note: you must always derive FromRow for structs used with query_as
warning: use of deprecated function: use acquire_timeout instead
error: could not compile `ingest` due to 1 previous error"""


def test_messages_of_a_compiler_are_not_typed() -> None:
    assert list(sentences(COMPILER)) == ["ci is red, fix"]


@pytest.mark.parametrize(
    "text",
    [
        "warning: never wipe the staging db",
        "note: we never commit to main",
        "error: nope\n\nnote: we never commit to main",
    ],
)
def test_a_label_alone_does_not_show_that_a_line_was_pasted(text: str) -> None:
    assert text.rpartition("\n")[2] in sentences(text)
