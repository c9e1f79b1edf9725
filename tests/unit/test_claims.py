"""A later statement about the same thing replaces an earlier one; what looks alike does not."""

from __future__ import annotations

import pytest

from subconscious.poisoning.context import contradicts
from subconscious.text.claim_reader import claim
from subconscious.text.claims import indicates_change, replaces
from subconscious.text.same_statement import same_statement

REPLACED = [
    ("The session cache is Redis.", "session cache is memcached now"),
    ("The staging host is 10.0.0.4.", "the staging host is 10.0.0.9"),
    ("We use Jest for unit tests.", "we use vitest for unit tests"),
    ("Use single quotes.", "use double quotes"),
    ("Reports are sent on Fridays.", "reports are sent on Thursdays"),
    ("the design system belongs to team Orca", "the design system belongs to team Heron"),
    ("Never amend published commits.", "always amend published commits"),
    ("Don't use feature flags in the worker.", "use feature flags in the worker"),
    ("we require 2 approvals per pull request", "we require 3 approvals per pull request"),
    ("The default branch is called trunk.", "the default branch is called main"),
    ("Error tracking goes to Sentry because legal insists on it.", "error tracking goes to rollbar"),
    ("The nightly backup runs at 02:00.", "the nightly backup runs at 04:30"),
    ("Let's go with REST for the public API.", "we decided: GraphQL for the public API"),
    ("Config files are YAML.", "config files are toml, not yaml"),
    ("the retention is 30 days", "retention is 90 days now"),
    ("Wir nutzen Jenkins für die Builds.", "Wir nutzen jetzt CircleCI für die Builds."),
    ("put the types in a separate file", "don't put types in separate files"),
    ("Los despliegues son los lunes.", "los despliegues son los martes"),
]
KEPT_APART = [
    ("The staging host is 10.0.0.4.", "the production host is 10.0.0.9"),
    ("The API timeout is 30 seconds.", "the upload API timeout is 60 seconds"),
    ("The web client uses React.", "The admin client uses Vue."),
    ("We use TypeScript for the frontend.", "We use React for the frontend."),
    ("We use pytest for tests.", "We use hypothesis for tests."),
    ("Every release needs a changelog entry.", "Every release needs an approval."),
    ("Monday's job rebuilds the index.", "Tuesday's job rebuilds the index."),
    ("Shard 1 holds customers from Europe.", "Shard 2 holds customers from Asia."),
    ("auth.py is owned by the platform team", "billing.py is owned by the payments team"),
    ("The API is public.", "The API is rate limited."),
    ("Never log passwords.", "Never log tokens."),
    ("Always run the linter before a commit.", "Always run the tests before a commit."),
    ("Never deploy on Fridays.", "Deploys go out on Tuesdays."),
    ("The orders service uses Kafka.", "The mail service uses SQS."),
    ("Use Postgres for orders.", "Use Redis for caching."),
    ("The linter is ruff.", "The type checker is mypy."),
    ("Retries are limited to 3 in the importer.", "Retries are limited to 5 in the exporter."),
    ("The pool size is 5.", "should the pool size be 10?"),
    ("The pool size is 5.", "maybe the pool size is 10"),
    ("Always use UTC for dates.", "always use UTC for dates!"),
    ("Amounts are stored as integer cents.", "We store amounts as integer cents."),
    ("Port 5432 is for prod.", "Port 6543 is for staging."),
    ("In tests use sqlite for the database.", "In production use postgres for the database."),
    ("If the build fails on main, revert first.", "If the build fails on a branch, fix forward."),
    ("Logs are written as JSON.", "The config is written as YAML."),
    ("Version 1 of the API is frozen.", "Version 2 of the API is open."),
    ("Standup is on Monday at 9.", "The retro is on Friday at 15."),
    ("The German shop shows prices with VAT.", "The Swiss shop shows prices without VAT."),
    ("don't mock the db in integration tests", "mock the db in unit tests"),
    ("Write docs for public functions in the api.", "don't write docs for private functions in the api"),
    ("rev a boards run at 48 MHz", "rev b boards run at 64 MHz"),
]


@pytest.mark.parametrize(("old", "new"), REPLACED)
def test_a_later_value_replaces_the_earlier_one(old: str, new: str) -> None:
    assert replaces(new, old)


@pytest.mark.parametrize(("old", "new"), KEPT_APART)
def test_what_looks_alike_is_kept(old: str, new: str) -> None:
    assert not replaces(new, old)
    assert not replaces(old, new)


@pytest.mark.parametrize(
    "text",
    [
        "firmware is built with clang these days",
        "ocr is done by paddle from here on out",
        "mejor guardamos los precios como decimal",
        "the tick rate went up to 60",
        "ab heute liegen die Bilder auf dem NAS",
    ],
)
def test_words_that_tell_of_a_change(text: str) -> None:
    assert indicates_change(text)
    assert not indicates_change("the pictures are on the NAS")


NEGATED = [
    ("The API {} public.", "is", "isn't"),
    ("Redis {} required.", "is", "isn't"),
    ("Migrations {} reversible.", "are", "aren\u2019t"),
    ("The timeout {} 30 seconds.", "is", "isn't"),
    ("Postgres {} our database.", "is", "isn't"),
    ("Dates {} stored in UTC.", "are", "aren't"),
    ("The lock file {} committed.", "was", "wasn't"),
]


@pytest.mark.parametrize(("text", "verb", "negated"), NEGATED)
def test_a_negated_form_of_be_contradicts_it_and_is_read_like_not(text: str, verb: str, negated: str) -> None:
    said, denied = text.format(verb), text.format(negated)
    for one, other in ((said, denied), (denied, said)):
        assert replaces(one, other)
        assert contradicts(one, other)
        assert not same_statement(one, other, 1.0)
        assert not same_statement(one, other, 1.0, may_add=True)
        assert not same_statement(one, other, one_quote=True)
    short, long = claim(denied), claim(text.format(f"{verb} not"))
    assert short is not None
    assert long is not None
    assert (short.frame, short.negative, short.about, short.value) == ("is", True, long.about, long.value)
