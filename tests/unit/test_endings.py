"""Words that end what holds, and which statements they end."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from subconscious.supersession.ended import ended_by, spares
from subconscious.supersession.ending_patterns import End
from subconscious.supersession.endings import endings, spelled

STATED = [
    "Always run the integration tests before pushing",
    "Never use default exports in typescript files",
    "All endpoints must be versioned under /v1.",
    "Always ask me before adding a dependency.",
    "Don't touch the billing module without asking me.",
    "The nightly import job writes to the legacy_orders table.",
    "Commits immer auf Englisch schreiben.",
    "code freeze: no merges to main until the audit is done",
    "We decided: the job queue runs on Redis.",
    "Always add a changelog entry for each pull request.",
    "Never push directly to main.",
]


@pytest.mark.parametrize(
    ("typed", "ends"),
    [
        ("forget waht i said about the integration tests", 0),
        ("pls drop the rule about default exports", 1),
        ("endpoints no longer need to be versioned under /v1", 2),
        ("never mind the thing with the dependencies, just add what you need", 3),
        ("you no longer need to ask before adding dependencies", 3),
        ("ok, you can touch the billing module again", 4),
        ("the legacy_orders table is gone", 5),
        ("vergiss was ich über die Commits gesagt habe", 6),
        ("the freeze is over", 7),
        ("the audit is done", 7),
        ("we moved off redis, it's NATS now", 8),
        ("wir nutzen Redis nicht mehr", 8),
        ("on n'utilise plus Redis", 8),
        ("ya no usamos Redis", 8),
        ("não usamos mais Redis", 8),
        ("stop adding changelog entries", 9),
        ("it's fine to push to main again", 10),
        ("the rule about default exports is off the table", 1),
        ("die Regel mit den default exports ist vom Tisch", 1),
        ("the changelog rule doesnt apply anymore", 9),
        ("lets not do the changelog entries after all", 9),
        ("i changed my mind about the changelog, no entries", 9),
        ("default exports are fine after all", 1),
        ("default exports are permitted now", 1),
        ("i take back the ban on default exports", 1),
        ("default exports ban lifted", 1),
        ("endpoints dont need to be versioned after all", 2),
        ("no more changelog requirement", 9),
        ("skip the changelog entries from now on", 9),
        ("you dont have to ask before adding dependencies anymore", 3),
        ("no need to ask about dependencies any more, just add them", 3),
        ("the review is over, pushes to main are back to normal", 10),
        ("so forget what i said abt default exports n stuff", 1),
        ("what i said about the changelog doesn't matter any longer", 9),
        ("what we agreed on default exports no longer applies", 1),
        ("the default exports rule isnt a thing anymore", 1),
        ("das mit den default exports gilt nicht mehr", 1),
        ("lo de los default exports ya no vale", 1),
        ("a regra dos default exports já não vale mais", 1),
        ("dont need those changelog entries from now on", 9),
        ("that default exports rule, delete it, it annoys everyone", 1),
        ("Übrigens sind wir von Redis weg, die Queue läuft jetzt über RabbitMQ.", 8),
        ("wir sind von redis auf nats umgestiegen", 8),
        ("wir haben redis durch nats ersetzt", 8),
        ("on a remplacé redis par nats", 8),
        ("hemos pasado de redis a nats", 8),
        ("trocamos redis por nats", 8),
        ("default exports sind jetzt doch erlaubt", 1),
        ("you may use default exports after all", 1),
    ],
)
def test_what_is_meant_is_ended(typed: str, ends: int) -> None:
    (ending,) = endings(typed)
    assert ended_by(ending, STATED) == [ends]


FOR_A_TIME = [
    "while ines is on vacation, omar approves the invoices",
    "no load tests while staging is down",
    "mientras marta está de baja, revisa diego",
    "solange Ben im Urlaub ist, prüft Carla die Releases",
    "this sprint only bugs",
    "diese Woche keine Releases",
    "our sprints take two weeks",
    "Jeder Test bekommt einen Kommentar",
    "chaque PR a une capture",
    "retries stay off in dev till we found the duplicates",
    "use the fake mailer until the relay is repaired",
    "lena is out of office, so pavel reviews the payments",
]


@pytest.mark.parametrize(
    ("typed", "ends"),
    [
        ("ines is back from vacation", [0]),
        ("ines is back, ask her", [0]),
        ("staging is up again", [1]),
        ("marta ya volvió", [2]),
        ("Ben ist wieder da", [3]),
        ("new sprint. look at the parser", [4]),
        ("neuer Sprint!", [4]),
        ("neue Woche", [5]),
        ("die Kommentare in den Tests brauchst du nicht mehr", [7]),
        ("das mit dem Kommentar musst du nicht mehr machen", [7]),
        ("plus besoin de capture dans la PR", [8]),
        ("found it, a double click. retries back on in dev", [9]),
        ("retries are on again", [9]),
        ("you can use the real mailer again", [10]),
        ("lena is back", [11]),
        ("mail client on again", []),
        ("omar is back", []),
        ("ines is done", []),
        ("the sprint board is up again", []),
    ],
)
def test_what_holds_for_a_time_ends(typed: str, ends: list[int]) -> None:
    assert [place for ending in endings(typed) for place in ended_by(ending, FOR_A_TIME)] == ends


@pytest.mark.parametrize("typed", ["new week view please", "is ines back?", "when ines is back, ask her"])
def test_what_only_looks_like_a_new_period_or_a_return_ends_nothing(typed: str) -> None:
    assert not [place for ending in endings(typed) for place in ended_by(ending, FOR_A_TIME)]


@pytest.mark.parametrize(
    "typed",
    [
        "should we move off Redis?",
        "if we moved off redis, what would the queue be",
        "we want to move off Redis",
        "we'll drop the rule about default exports next year, maybe",
        "don't forget what I said about the integration tests",
        "when the freeze is over we merge",
        "until the audit is done",
        "the freeze is not over",
        "drop the column nickname from the users table",
        "remove the no-console rule from .eslintrc",
        "disable the eslint rule about default exports",
        "> forget what I said about the integration tests",
        "```\nforget what I said about the integration tests\n```",
        "skip the integration tests this time",
        "just this once push directly to main",
        "the error is gone",
        "the tests are done",
        "I finished the login page",
        "forget that testing stuff maybe",
        "the login page is fine now",
        "the redis container is back to normal",
        "skip the integration tests for this commit",
        "lets not merge yet after all the trouble",
        "the tests dont need redis",
        "why is it that default exports arent allowed",
        "what i said about default exports, does it matter?",
        "what we need is a changelog entry",
        "take the default exports rule out of eslintrc",
        "main is fine now, the tests pass",
        "you can push now",
        "the integration tests are ok now",
        "default exports are allowed now only in pages",
        "the readme says default exports are permitted now",
        "wir sind noch nicht von redis weg",
        "no cambiamos redis por nats",
        "ainda não trocamos redis por nats",
        "we moved off redis in this branch",
        "on a remplacé redis par un mock dans ce fichier",
    ],
)
def test_what_ends_nothing(typed: str) -> None:
    assert [place for ending in endings(typed) for place in ended_by(ending, STATED)] == []


@pytest.mark.parametrize(
    "typed",
    [
        *("scrap that", "no, forget it", "actually no", "nvm that", "hmm undo that decision", "lieber doch nicht"),
        *("sorry that was wrong, ignore it", "my mistake, forget that"),
    ],
)
def test_the_thing_said_last(typed: str) -> None:
    (ending,) = endings(typed)
    assert (ending.end, ending.topic) == (End.LAST, "")


@pytest.mark.parametrize("typed", ["that was wrong, fix it", "that is wrong", "my mistake, the field is called total"])
def test_a_fault_that_is_only_named_ends_nothing(typed: str) -> None:
    assert not any(ending.end is End.LAST for ending in endings(typed))


def test_two_that_fit_alike_are_left_alone() -> None:
    (ending,) = endings("drop the rule about tests")
    rules = ["Always write tests for parsers.", "Never mock the database in tests."]
    assert ended_by(ending, rules) == []
    assert ended_by(ending, rules[:1]) == [0]


def test_what_agrees_with_leaving_is_kept() -> None:
    (ending,) = endings("we moved off Redis")
    assert ended_by(ending, ["Never use Redis for sessions.", "Use NATS for the queue, not Redis."]) == []


@settings(deadline=None)
@given(st.text(max_size=400))
def test_any_text_is_read(text: str) -> None:
    for ending in endings(text):
        assert ending.evidence in text
        assert text[ending.start :].startswith(ending.evidence)


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz ", max_size=60))
def test_spelling_keeps_the_words(text: str) -> None:
    assert len(spelled(text).split()) == len(text.split()) or "nevermind" in text


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ("the audit is over", "until the audit nobody merges to release/"),
        ("die messe ist vorbei", "bis zur messe keine änderungen am layout"),
        ("the license server works again", "the license server is down, so use octave for the time being"),
        ("l'api météo remarche", "tant que l'api météo est en panne on utilise les données de test"),
        ("der drucker läuft wieder", "der drucker ist kaputt, bons vorerst als pdf"),
        ("the tile cache rule is off the table", "tiles go into the tile cache for a day"),
    ],
)
def test_the_end_of_a_state_ends_what_rests_on_it(typed: str, stored: str) -> None:
    (found,) = endings(typed)
    assert ended_by(found, [stored]) == [0]


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ("the audit is delayed", "until the audit nobody merges to release/"),
        ("uploads are deleted after 14 days", "uploads go to the bucket frames-out"),
        ("errors for users go through i18n", "errors for users are in English until the relaunch"),
    ],
)
def test_news_that_only_sounds_like_an_end_ends_nothing(typed: str, stored: str) -> None:
    assert not any(ended_by(found, [stored]) for found in endings(typed))


@pytest.mark.parametrize("typed", ["hm no wait, drop that", "nah, scrap that", "hold on, forget that"])
def test_second_thoughts_take_back_the_last_thing(typed: str) -> None:
    (found,) = endings(typed)
    assert found.end is End.LAST
    assert found.alone


def test_leave_to_stop_asking_ends_the_rule_to_ask() -> None:
    (found,) = endings("you can stop asking me about terraform modules")
    assert found.end is End.DENIED


@pytest.mark.parametrize(
    ("typed", "stored", "ends"),
    [
        ("リリースは昨日終わった", "リリースまでは依存関係を更新しない", [0]),
        ("移行は完了しました", "移行が終わるまで両方に書き込む", [0]),
        ("テストは終わった", "リリースまでは依存関係を更新しない", []),
        ("コメントを英語で書くルールはもう要らない", "コメントは全部英語で書くこと", [0]),
        ("审计结束了", "审计结束之前不要合并", [0]),
    ],
)
def test_ends_in_japanese_and_chinese(typed: str, stored: str, ends: list[int]) -> None:
    (found,) = endings(typed)
    assert ended_by(found, [stored]) == ends


@pytest.mark.parametrize(
    ("holds", "typed"),
    [
        ("we use postgres for the order service", "in den Tests haben wir Postgres durch sqlite ersetzt"),
        ("Wir nutzen Postgres als Datenbank", "lokal haben wir Postgres durch sqlite ersetzt"),
        ("Wir nutzen Postgres als Datenbank", "Statt Postgres nutzen wir in den Unit-Tests sqlite"),
        ("Wir nutzen Kafka für alle Events", "Bei Kunde Meier sind wir von Kafka auf RabbitMQ umgestiegen"),
        ("On utilise Postgres pour les commandes", "dans les tests on a remplacé Postgres par sqlite"),
        ("usamos postgres para los pedidos", "en la demo cambiamos postgres por sqlite"),
        ("Usamos Redis para sessões", "nos testes trocamos Redis por um mock"),
        ("we use zod for validation", "we have replaced zod in the playground with valibot"),
        ("we use celery for jobs", "we stopped using celery for emails"),
        ("Wir nutzen Jest für alle Tests", "Tom meint, wir haben Jest durch Vitest ersetzt, das stimmt so nicht"),
        ("we use celery for jobs", "the readme says we got rid of celery"),
    ],
)
def test_a_departure_in_another_place_or_by_hearsay_ends_nothing(holds: str, typed: str) -> None:
    assert spares(typed, holds)
    assert not any(ended_by(found, [holds]) for found in endings(typed))


@pytest.mark.parametrize(
    ("holds", "typed"),
    [
        ("we deploy with Jenkins", "we switched from Jenkins to Buildkite in June"),
        ("we deploy with Jenkins", "we dropped Jenkins for cost reasons"),
        ("we use redis for the job queue", "we replaced redis with nats for the job queue"),
        ("Wir nutzen Kafka für alle Events", "Im März sind wir von Kafka auf RabbitMQ umgestiegen"),
        ("usamos Redis para las sesiones", "hemos cambiado Redis por memcached para las sesiones"),
        ("we use celery for jobs", "we got rid of celery at the last retro"),
        ("we use yarn", "we switched from yarn to pnpm in the whole repo"),
    ],
)
def test_a_departure_may_say_when_and_why_and_name_the_same_place(holds: str, typed: str) -> None:
    assert not spares(typed, holds)


@pytest.mark.parametrize(
    ("holds", "typed"),
    [
        ("keine Secrets ins Repo", "Secrets kann man doch ins Vault legen"),
        ("nie force push auf geteilten Branches", "force push darf man doch nicht, hab ich gesagt"),
        ("kein raw SQL in den Handlern", "raw SQL kann man doch nicht testen, warum steht das da drin"),
    ],
)
def test_a_particle_permits_nothing(holds: str, typed: str) -> None:
    assert not any(ended_by(found, [holds]) for found in endings(typed))


@pytest.mark.parametrize(
    ("holds", "typed"),
    [
        ("Nunca hagas force push", "force push ya está permitido según el bot, arregla la protección"),
        ("never force push to shared branches", "apparently force pushing is allowed now, fix the branch protection"),
        ("never force push to shared branches", "force pushing is allowed now, I think"),
        ("never deploy on fridays", "deploying on fridays is allowed now, says the bot"),
        ("nie force push", "force push ist doch erlaubt, warum geht das, mach die Branch Protection an"),
        ("never use raw sql in the handlers", "you can use raw sql now, once, for the migration"),
        ("never use raw sql in the handlers", "in the report handler you can use raw sql now"),
        ("never touch the prod database", "you may use the prod database now, one query, to check the counts"),
        ("never push to main directly", "pushing to main is allowed after all checks pass"),
        ("never force push", "force pushing is allowed now, on your own branches"),
        ("never commit generated files", "generated files are allowed now if you ask me first"),
        ("Jamais de force push sur main", "le force push est maintenant autorisé uniquement sur tes branches"),
        ("auf main pushen ist verboten", "auf main pushen ist jetzt erlaubt für mich, nicht für dich"),
        ("nunca faça force push", "force push agora é permitido nas branches pessoais"),
    ],
)
def test_a_reported_or_limited_permission_leaves_the_ban(holds: str, typed: str) -> None:
    assert spares(typed, holds)
    assert not any(ended_by(found, [holds]) for found in endings(typed))


@pytest.mark.parametrize(
    ("holds", "typed"),
    [
        ("never push to main", "pushing to main is allowed again because the audit passed"),
        ("never push to main", "pushing to main is allowed now, lena agreed"),
        ("never push to main", "you can push to main again, the bug is fixed"),
        ("never deploy on fridays", "deploying on fridays is allowed again"),
        ("nie force push auf geteilten Branches", "force push auf geteilten Branches darf man jetzt wieder"),
        ("nunca hagas force push", "force push ya está permitido, lo hablamos con el equipo"),
        ("jamais de force push", "le force push est de nouveau autorisé"),
    ],
)
def test_a_permission_with_a_reason_ends_the_ban(holds: str, typed: str) -> None:
    assert any(ended_by(found, [holds]) for found in endings(typed))


@pytest.mark.parametrize(
    ("holds", "typed"),
    [
        ("never log emails of customers", "what we said about emails is wrong in the README"),
        ("never log emails of customers", "what I said about emails is off limits for the blog"),
        ("never log emails of customers", "what we agreed on about emails no longer applies to the internal tool"),
        ("we always use tabs in go", "the tabs rule: delete it from the eslintrc"),
        ("the retention policy deletes old logs", "the retention policy: remove it from the terraform module"),
        ("we agreed on the email policy", "the email policy - forget it for a second, why does the retry loop hang"),
        ("siempre guarda los importes en céntimos", "lo de los importes ya no sirve en el test, arréglalo"),
        ("we always write tests first", "the tests first rule isn't really a thing anymore in the docs, add it back"),
        ("always squash commits", "the squash rule is off the table for release branches"),
    ],
)
def test_a_remark_about_a_text_or_one_place_leaves_the_rule(holds: str, typed: str) -> None:
    assert spares(typed, holds)
    assert not any(ended_by(found, [holds]) for found in endings(typed))


@pytest.mark.parametrize(
    ("holds", "typed"),
    [
        ("always squash commits", "the squash rule is off the table, it hides too much"),
        ("always add a changelog entry", "the changelog rule: forget it, nobody reads it"),
        ("rates always show 4 decimals", "drop the 4 decimals requirement for rates, users hated it"),
        ("hands off legacy/", "ok forget the ban on legacy, go in there and fix it properly"),
        ("Kafka topics have 12 partitions by policy", "that 12 partitions policy has been withdrawn by platform"),
    ],
)
def test_a_rule_that_is_taken_back_with_a_reason_ends(holds: str, typed: str) -> None:
    assert any(ended_by(found, [holds]) for found in endings(typed))


@pytest.mark.parametrize(
    ("holds", "typed"),
    [
        ("every endpoint needs an auth check", "we don't want endpoints without an auth check from now on"),
        ("every migration needs a rollback script", "we don't want migrations that lack a rollback script from now on"),
        ("always write integration tests", "we don't need any mocks for integration tests from now on"),
        ("always write integration tests", "we don't need mocks for integration tests any more"),
        ("feature flags live in launchdarkly", "we don't want stale feature flags in launchdarkly from now on"),
        ("retries are capped at 3", "we don't want more than 3 retries from now on"),
        ("ask lena before changing the billing tables", "we don't want surprises in the billing tables from now on"),
        ("all endpoints need rate limits", "no more endpoints without rate limits please"),
    ],
)
def test_an_unwanted_breach_of_a_rule_leaves_the_rule(holds: str, typed: str) -> None:
    assert spares(typed, holds)
    assert not any(ended_by(found, [holds]) for found in endings(typed))


def test_what_is_unwanted_and_what_is_pointed_at_ends_the_rule() -> None:
    assert not spares("we don't want changelog entries from now on", "always add a changelog entry")
    assert not spares("we don't need those long timeouts from now on", "every query needs a timeout of 5 seconds")
