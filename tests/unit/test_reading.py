"""Twins say the same; whatever turns a statement, however small, makes two of it."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from subconscious.text.reading import normalised_words, same_words

SAME = [
    ("Amounts are stored as integer cents.", "We store amounts as integer cents."),
    ("Never commit generated files.", "Don't commit generated files"),
    ("Use pnpm instead of npm.", "We use pnpm rather than npm."),
    ("The tests need Postgres on port 5433.", "Tests need postgres on port 5433"),
    ("Remember to run the linter before every commit.", "Please run the linter before each commit."),
    ("We should keep config in `settings.toml`.", "Configuration must be kept in settings.toml."),
    ("Always use uv to install dependencies.", "Use uv to install deps."),
    ("The worker retries three times.", "The worker retries 3 times"),
    ("We decided to use Redis for the queue.", "Redis is used for the queue."),
    ("Avoid circular dependencies.", "No circular dependencies."),
    ("Make sure that the cache is cleared.", "Ensure the cache is cleared"),
    ("Limits are 10,000 rows.", "Limits are 10000 rows."),
    ("Secrets must not be logged.", "Secrets should not be logged"),
    ("Notes are kept in the repo.", "We keep notes in the repository."),
    ("The name is fixed in the config.", "Fix the name in the config."),
    ("Coding in Rust is slow.", "Code in Rust is slow."),
    ("Avoid using globals.", "Don't use globals."),
    ("Run the linter before committing.", "Run the linter before commit."),
    ("Note that the ids are integers.", "The ids are integers."),
    ("Important: back files up every night!", "Back files up every night."),
    ("Reminder: we use `pnpm`.", "Use pnpm"),
]

APART = [
    # negation
    ("Always push to main.", "Never push to main."),
    ("Deploy on Fridays.", "Don't deploy on Fridays."),
    ("Tests don't always pass.", "Tests don't pass."),
    ("Cache the answers with a key.", "Cache the answers without a key."),
    ("Migrations must not be run by hand.", "Migrations do not need to be run by hand."),
    ("Old backups must not be deleted.", "Old backups don't have to be deleted."),
    ("Notes hold the ids.", "Never hold the ids."),
    ("Keep note ids in the table.", "Keep no ids in the table."),
    ("Retry while status != 200.", "Retry while status = 200."),
    ("Retry while status!=200.", "Retry while status=200."),
    ("Set !important on the rule.", "Set important on the rule."),
    # numbers, versions, codes
    ("Retry 3 times.", "Retry 5 times."),
    ("Python 3.11 is required.", "Python 3.12 is required."),
    ("E050 means that the key was refused.", "E051 means that the key was refused."),
    ("The worker retries two times.", "The worker retries three times."),
    ("Wait 5 s before a retry.", "Wait 5 ms before a retry."),
    # files, symbols, code
    ("Rounding happens in `money.py`.", "Rounding happens in `ledger.py`."),
    ("Rounding happens in src/money.py.", "Rounding happens in lib/money.py."),
    ("Call getUser first.", "Call getUsers first."),
    ("Run `bun test` before a commit.", "Run `bun run test` before a commit."),
    ("Set --strict for mypy.", "Set --no-strict for mypy."),
    ("Use foo_bar here.", "Use foo_baz here."),
    ("We chose option A.", "We chose option I."),
    ("Call `a` first.", "Call `it` first."),
    ("Deploy to the US region.", "Deploy to the region."),
    ("`User` is cached for an hour.", "`user` is cached for an hour."),
    ("Read `HOME` at start.", "Read `home` at start."),
    ("Lock `users` first.", "Lock `user` first."),
    # another word for another thing
    ("Use pipe for installs.", "Use pip for installs."),
    ("We use tabs for indentation.", "We use spaces for indentation."),
    ("We use Redis for the queue.", "We use Postgres for the queue."),
    ("Enable caching in the client.", "Disable caching in the client."),
    ("The first request is slow.", "The last request is slow."),
    ("Reminder emails are sent at noon.", "Emails are sent at noon."),
    ("Important files are backed up every night.", "Files are backed up every night."),
    ("Note ids are integers.", "Ids are integers."),
    ("Remember tokens expire in an hour.", "Tokens expire in an hour."),
    ("Hold the lock while writing.", "Store the lock while writing."),
    ("Retries are too slow.", "Retries are slow."),
    ("Migrate from a to b.", "Migrate from b."),
    ("Prefer the us region.", "Prefer the region."),
    ("Deploy to staging first.", "Deploy to stage first."),
    ("Run the setting migration.", "Run the set migration."),
    # order
    ("Use tabs, not spaces.", "Use spaces, not tabs."),
    ("Run lint before tests.", "Run tests before lint."),
    ("The API calls the worker.", "The worker calls the API."),
    ("Deploy from staging to production.", "Deploy from production to staging."),
    ("nutze A nicht B", "nutze B nicht A"),
    # said of another time, or of fewer cases
    ("We use pnpm.", "We used pnpm."),
    ("Tests pass.", "Tests should pass."),
    ("Deploy on Fridays.", "Deploy on Fridays after a review."),
    ("The fix was applied.", "The fix will be applied."),
    ("We should use pnpm.", "Should we use pnpm?"),
    ("Ask my reviewer first.", "Ask your reviewer first."),
    ("", "Something."),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_in_other_words(one: str, other: str) -> None:
    assert same_words(one, other)
    assert same_words(other, one)


@pytest.mark.parametrize(("one", "other"), APART)
def test_what_turns_a_statement_makes_two_of_it(one: str, other: str) -> None:
    assert not same_words(one, other)
    assert not same_words(other, one)


@given(st.text(max_size=200), st.text(max_size=200))
@example("-", "+")
def test_twins_are_what_reads_the_same(one: str, other: str) -> None:
    assert same_words(one, one)
    assert same_words(one, other) == same_words(other, one)
    if same_words(one, other) and one != other:
        assert normalised_words(one) == normalised_words(other) != ()


NAMES = ("3", "v1.2", "money.py", "getUser", "pnpm", "`Key`")
WORDS = st.lists(st.sampled_from((*NAMES, *"use not tabs never before staging".split())), min_size=1)


@given(WORDS, st.data())
def test_a_name_or_a_number_is_in_both_or_in_neither(words: list[str], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(words)))
    name = data.draw(st.sampled_from(NAMES))
    other = data.draw(st.sampled_from([one for one in (*NAMES, "4", "v1.3", "getUsers", "`key`") if one != name]))
    said, without = [*words[:place], name, *words[place:]], " ".join(words)
    assert not same_words(" ".join(said), without)
    assert not same_words(" ".join(said), " ".join([*words[:place], other, *words[place:]]))


@given(st.lists(st.sampled_from((*NAMES, *"use not tabs never before".split())), min_size=1), st.data())
def test_a_light_word_more_changes_nothing(words: list[str], data: st.DataObject) -> None:
    place = data.draw(st.integers(1, len(words)))
    light = data.draw(st.sampled_from("the we really".split()))
    assert same_words(" ".join(words), " ".join([*words[:place], light, *words[place:]]))
