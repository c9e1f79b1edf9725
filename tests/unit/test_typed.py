"""Typed sentences: judged whatever their words, worded so that they stand alone, and few of one message."""

from __future__ import annotations

from dataclasses import replace

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from subconscious.capture import judge
from subconscious.capture.detectors import typed
from subconscious.capture.detectors.reactions import is_reaction
from subconscious.capture.detectors.references import answered
from subconscious.domain.model import Origin, Role, Turn
from subconscious.embeddings.local import LocalEmbedder
from subconscious.text import wording

OPTIONS = "Two ways: a) keep one Redis for all services, or b) give each service its own NATS stream. Which one?"


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    return LocalEmbedder()


def turn(text: str, *, origin: Origin = Origin.USER, before: str = "", interrupted: bool = False) -> Turn:
    return Turn("t", "s", Role.USER, origin, text, 1.0, "f", 0, 1, before=before, after_interrupt=interrupted)


def confidence(text: str, embedder: LocalEmbedder, *, before: str = "") -> float:
    said = turn(text, before=before)
    found = typed.extract([said], judge.opinions(typed.spoken(said), embedder))
    return max((one.raw_confidence for one in found), default=0.0)


@pytest.mark.parametrize(
    "text",
    [
        "prod db is on 6543, don't touch 5432",
        "never push to main directly",
        "the staging cluster belongs to the platform team, ask them before changing it",
        "all money is in cents, as integers",
        "we deploy on tuesdays only",
        "every api error goes through problem.py, no ad hoc json",
        "Bitte nie direkt auf main pushen, immer über einen Branch",
    ],
)
def test_what_holds_is_kept_whatever_its_words(text: str, embedder: LocalEmbedder) -> None:
    assert confidence(text, embedder) >= 0.9


@pytest.mark.parametrize(
    "text",
    [
        "add a retry to the s3 upload",
        "why does the consumer always rebalance when i deploy one pod",
        "run the tests again",
        "looks good, go on",
        "should we always run lint before a commit?",
        "hm what if we never cached it at all",
        "don't run the tests this time",
        "thanks!",
    ],
)
def test_what_is_over_with_the_task_is_not(text: str, embedder: LocalEmbedder) -> None:
    assert confidence(text, embedder) < 0.7


def test_capitals_and_a_full_stop_change_nothing(embedder: LocalEmbedder) -> None:
    plain, careful = "never push to main directly", "Never push to main directly."
    one, other = (judge.model().opinion(judge.Spoken(text), embedder) for text in (plain, careful))
    assert one.chance == pytest.approx(other.chance)


BOLD = "Two ways:\n\n**Option 1:** Keep one Redis\n\n**Option 2:** Give each service a stream\n\nWhich one?"


@pytest.mark.parametrize("before", [BOLD, BOLD.replace("Option ", "")])
def test_an_option_is_named_that_the_assistant_printed_in_bold(before: str) -> None:
    assert answered("option 2", before) == "option 2 (asked: Give each service a stream)"


SEARCH = "A) OpenSearch: powerful, one more service\nB) Postgres FTS, no new service"


@pytest.mark.parametrize(
    ("text", "before", "about"),
    [
        (
            "B",
            "Shall I use A) OpenSearch or B) Postgres FTS, no new service? I recommend B.",
            "Shall I use Postgres FTS, no new service?",
        ),
        (
            "B",
            "For search we have A) OpenSearch or B) Postgres FTS, no new service. I recommend B",
            "For search we have Postgres FTS, no new service",
        ),
        (
            "b please",
            f"Two options:\n\n{SEARCH}\n\nI recommend B. Which one shall we take for search?",
            "Which one shall we take for search? Postgres FTS, no new service",
        ),
        (
            "the second one",
            f"How should search work?\n\n{SEARCH}\n\nI recommend B.",
            "How should search work? Postgres FTS, no new service",
        ),
        ("B", "I recommend B. For search we have A) OpenSearch or B) Postgres FTS.", "For search we have Postgres FTS"),
        ("B", f"All tests pass.\n\n{SEARCH}\n\nWhich one?", "Postgres FTS, no new service"),
        ("B", "**A**: OpenSearch\n**B**: Postgres FTS\n\nWhich one for search?", "Which one for search? Postgres FTS"),
        ("2", "For search there are: 1) OpenSearch, 2) Postgres FTS. Which one?", "For search there are: Postgres FTS"),
        ("b", "Soll ich a) Redis oder b) NATS nehmen? Ich empfehle b.", "Soll ich NATS nehmen?"),
        (
            "b",
            "Two ways: (a) keep the retries in the client, (b) move them to the queue. Which one?",
            "a) keep the retries in the client, (b) move them to the queue",
        ),
        ("2", "Options:\n1. UUID v4\n2. UUID v7\nfor keys of new tables.", "UUID v7 for keys of new tables."),
    ],
)
def test_a_picked_option_is_named_with_its_question(text: str, before: str, about: str) -> None:
    assert answered(text, before) == f"{text} (asked: {about})"


@pytest.mark.parametrize("text", ["please use a queue", "a queue is better"])
def test_an_article_picks_no_option(text: str) -> None:
    assert "OpenSearch or" in answered(text, "Shall I use A) OpenSearch or B) Postgres FTS?")


def test_an_answer_is_kept_with_the_option_that_it_picks(embedder: LocalEmbedder) -> None:
    said = turn("option b, for all services", before=OPTIONS)
    (found,) = typed.extract([said], judge.opinions(typed.spoken(said), embedder))
    assert "its own NATS stream" in found.content
    assert found.evidence.quote == "option b, for all services"


@pytest.mark.parametrize(
    ("text", "before", "part"),
    [
        ("the second one", OPTIONS, "NATS"),
        ("yes, always that way", "Should I run the formatter before each commit?", "formatter before each commit"),
        ("no! the pool stays at 5", "I have raised the pool to 20 connections.", "pool to 20"),
    ],
)
def test_what_an_answer_answers_is_named(text: str, before: str, part: str) -> None:
    assert part in answered(text, before)
    assert answered(text, before).startswith(text)


def test_a_sentence_that_leans_takes_the_one_before_it() -> None:
    said = turn("the mapper in geo/project.py swaps lat and lon. it does that on purpose, never change it")
    kept = {one: judge.Opinion(0.95, "rule") for one in typed.spoken(said) if one.place == 1}
    (found,) = (one for one in typed.extract([said], kept) if "purpose" in one.evidence.quote)
    assert found.content.startswith("the mapper in geo/project.py")


@pytest.mark.parametrize(("chance", "kept"), [(0.97, True), (0.6, True), (0.4, False)])
def test_a_sentence_is_not_kept_beside_the_one_that_takes_it(chance: float, kept: bool) -> None:
    said = turn("errors do not belong on standard output. fd 2, all of them")
    first, second = typed.spoken(said)
    opinions = {first: judge.Opinion(0.95, "rule"), second: judge.Opinion(chance, "fact")}
    (found,) = typed.extract([said], opinions)
    assert found.content == (said.text if kept else first.text)
    assert found.raw_confidence == max(0.95, chance)
    assert found.kind == ("learning" if chance > 0.95 else "preference")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("we ship on mondays. if its a holiday then tuesdays", True),
        ("amounts are cents. except in the report", True),
        ("wir deployen montags. au\u00dfer vor feiertagen", True),
        ("we ship on mondays. if its a holiday, what then?", False),
        ("we ship on mondays. fix the calendar", False),
    ],
)
def test_a_condition_or_exception_belongs_to_the_statement_before_it(
    text: str, kept: bool, embedder: LocalEmbedder
) -> None:
    said = turn(text)
    found = typed.extract([said], judge.opinions(typed.spoken(said), embedder))
    assert [one.content for one in found] == [text if kept else typed.spoken(said)[0].text]


def test_a_reason_takes_the_answer_before_it_with_what_that_answers() -> None:
    said = turn("option b can't work, ids change. Since that is the only stable key.", before=OPTIONS)
    reason = typed.spoken(said)[-1]
    found = typed.extract([said], {reason: judge.Opinion(0.9, "fact")})
    (content,) = (one.content for one in found if one.evidence.quote == reason.text)
    assert content.startswith("option b can't work")
    assert "its own NATS stream" in content


LIST = "Two questions:\n1. Should gaps show a line?\n2. Should the active session be lane 1 (leftmost), or rightmost?"


def test_a_numbered_answer_takes_the_question_with_its_number() -> None:
    assert "active session" in answered("left most", LIST, "2")
    one = judge.Spoken("left most, and no fourth lane is drawn", before=LIST, place=1, previous="1. no line, 2.")
    (found,) = typed.extract([turn(f"{one.previous} {one.text}", before=LIST)], {one: judge.Opinion(0.95, "rule")})
    assert "active session" in found.content


def contents(text: str, *, before: str = "") -> list[str]:
    """Return what is kept of a message if the judge finds every sentence worth keeping that says something."""
    said = turn(text, before=before)
    kept = {one: judge.Opinion(0.0 if is_reaction(one.text) else 0.95, "rule") for one in typed.spoken(said)}
    return [one.content for one in typed.extract([said], kept)]


LEAFLET = "I added leaflet to web/package.json, and the map renders."


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("ok this one is fine. and use pnpm in web/, never npm", "use pnpm in web/, never npm"),
        ("nice. this week no pushes to main, demo is on friday", "this week no pushes to main, demo is on friday"),
        ("ok good. but never use moment.js", "never use moment.js"),
        ("super. und die tests laufen immer mit -race", "die tests laufen immer mit -race"),
        ("merci, parfait. et toujours les commits en anglais", "toujours les commits en anglais"),
        ("vale. nunca uses npm aqu\u00ed", "nunca uses npm aqu\u00ed"),
        ("good tests are short. and fast", "good tests are short. and fast"),
        ("nice. keep it like that", f"keep it like that (replying to: {LEAFLET})"),
    ],
)
def test_a_reaction_is_not_kept_with_the_sentence_after_it(text: str, kept: str) -> None:
    assert contents(text, before=LEAFLET)[-1] == kept


@pytest.mark.parametrize(
    ("text", "apart"),
    [
        ("run the tests w cargo nextest, always. and dont add a dependency without asking me", True),
        ("never commit to main. always open a pr", True),
        ("benutze pnpm f\u00fcr alles. und schreibe commits auf englisch", True),
        ("always use uv. never pip", False),
        ("don't mock the database. use testcontainers instead", False),
        ("run the linter before each commit. and fix what it reports", False),
        ("use conventional commits. and keep the subject under 50 chars", False),
        ("we deploy with fly. and the region is ams", False),
        ("never log card numbers. always validate webhook signatures", True),
        ("never edit generated files. never commit secrets to the repo", True),
        ("schreibe commits immer auf englisch. niemals secrets loggen", True),
        ("never push to main. but always push hotfixes", False),
        ("never commit without asking me. but always commit docs right away", False),
        ("ask before deleting anything. never ask for tests", False),
        ("never mock the database. always use a real one", False),
        ("never use any in typescript. always use the generated ones", False),
        ("never deploy on friday. always deploy before noon then", False),
        ("use sqlite in the unit tests. never start postgres containers", False),
        ("never deploy by hand. always use the release script", False),
        ("frag immer vor dem l\u00f6schen von dateien. aber l\u00f6sche immer generierte dateien", False),
        ("ne pousse jamais sur main. mais pousse toujours les hotfixes urgents", False),
        ("nunca hagas push a main. pero siempre sube los hotfixes urgentes", False),
        ("nunca mockees la base de datos. siempre usa una instancia real", False),
        ("nunca fa\u00e7a push na main. mas sempre envie os hotfixes urgentes", False),
    ],
)
def test_two_rules_of_one_message_are_two_statements(text: str, apart: bool) -> None:
    assert (len(contents(text)) == 2) is apart
    assert apart or contents(text)[-1] == text


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (
            "for this branch only dont touch migrations/, marie is rewriting them",
            "dont touch migrations/, marie is rewriting them",
        ),
        ("on this branch dont touch migrations/", "dont touch migrations/"),
        ("dont touch migrations/ on this branch", "dont touch migrations/"),
        ("never push to origin on this branch, tomas rebases it", "never push to origin, tomas rebases it"),
        ("auf diesem branch immer npm statt pnpm nutzen", "immer npm statt pnpm nutzen"),
        ("sur cette branche on ne touche pas au schema", "on ne touche pas au schema"),
        ("en esta rama no toques las migraciones", "no toques las migraciones"),
        ("nesta branch nunca mexa nas migrations", "nunca mexa nas migrations"),
        ("just for this branch use npm, never yarn", "use npm, never yarn"),
    ],
)
def test_a_rule_for_this_branch_names_it(text: str, rule: str, embedder: LocalEmbedder) -> None:
    said = replace(turn(text), branch="feat/x")
    (found,) = typed.extract([said], judge.opinions(typed.spoken(said), embedder))
    assert found.content == f"On the branch feat/x: {rule}"
    assert found.raw_confidence >= 0.9


@pytest.mark.parametrize(
    "text",
    [
        "siempre usa pnpm, menos en esta rama",
        "always ask before pushing, except on this branch",
        "never force push, not even on this branch",
        "everywhere but on this branch we use npm",
        "open prs against develop, not on this branch",
        "immer npm, nur nicht auf diesem branch",
        "toujours pnpm mais pas sur cette branche",
        "sempre pnpm, nunca nesta branch",
        "use npm on this branch. Otherwise use pnpm",
    ],
)
def test_an_exception_for_this_branch_is_no_rule_for_it(text: str) -> None:
    assert {one.branch for one in typed.spoken(replace(turn(text), branch="feat/x"))} == {""}


@pytest.mark.parametrize(
    "text",
    [
        "never put logging in this branch of the switch",
        "on main we use npm, on this branch yarn",
        "on this branch we use npm, everywhere else yarn",
        "use npm on this branch, pnpm on prod",
        "use npm on this branch, always sign commits",
        "auf main immer squashen, auf diesem branch nie",
        "main is protected, so only commit on this branch",
        "on this branch only run unit tests",
        "on this branch and on release/2 never force push",
        "in this branch's config always use tabs",
        "never delete files added on this branch",
        "auch auf diesem branch immer squashen",
    ],
)
def test_a_rule_that_is_only_partly_for_this_branch_stays_as_it_is(text: str) -> None:
    assert [one.branch for one in typed.spoken(replace(turn(text), branch="feat/x"))] == [""]


def test_a_rule_for_this_branch_takes_no_earlier_sentence_into_its_scope() -> None:
    said = replace(turn("we deploy with fly. on this branch use it without docker"), branch="feat/x")
    kept = typed.extract([said], {one: judge.Opinion(0.95, "rule") for one in typed.spoken(said)})
    assert not any("fly" in one.content for one in kept if one.content.startswith("On the branch"))


@pytest.mark.parametrize("branch", ["", "HEAD", "main", "an odd name"])
def test_a_rule_for_a_branch_without_a_name_of_its_own_stays_as_it_is(branch: str) -> None:
    said = replace(turn("for this branch only dont touch migrations/"), branch=branch)
    assert [(one.reworded, one.branch) for one in typed.spoken(said)] == [("", "")]


@pytest.mark.parametrize(
    "text",
    [
        "merge main into this branch",
        "fix the tests on this branch",
        "why does the build fail on this branch",
        "create a pr for this branch",
        "commit on this branch",
        "is there anything left to do on this branch?",
        "the ci on this branch is red",
    ],
)
def test_a_task_on_this_branch_is_no_rule_for_it(text: str, embedder: LocalEmbedder) -> None:
    said = replace(turn(text), branch="feat/x")
    assert typed.extract([said], judge.opinions(typed.spoken(said), embedder)) == []


def test_a_question_that_only_asks_for_approval_is_stored_with_what_it_is_about() -> None:
    before = "Postgres it is. I will use diesel for the queries. Okay?"
    assert answered("yes but with sqlx, diesel annoys me", before).endswith(
        "(asked: I will use diesel for the queries. Okay?)"
    )
    assert answered("yes but with sqlx", "Shall I use diesel for the queries? Okay?").endswith(
        "(asked: Shall I use diesel for the queries? Okay?)"
    )
    assert "asked" not in answered("yes but with sqlx", "Okay?")


STORES = "Two stores fit:\n\n1. SQLite: one file.\n2. Postgres: many writers.\n\nWhich one do you want?"


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("2", ""),
        ("2 pls", ""),
        ("option 2", ""),
        ("the second", ""),
        ("ok, go with the second one", ""),
        ("ok. 2 pls", ""),
        ("die zweite bitte", ""),
        ("le deuxi\u00e8me", ""),
        ("opci\u00f3n 2", ""),
        ("a segunda", ""),
        ("2 but only in prod", " but only in prod"),
        ("2, we have it already", ", we have it already"),
    ],
)
def test_the_number_of_an_option_stands_for_its_text(text: str, rest: str, embedder: LocalEmbedder) -> None:
    said = turn(text, before=STORES)
    (found,) = typed.extract([said], judge.opinions(typed.spoken(said), embedder))
    assert found.content == f"Postgres: many writers{rest} (asked: Two stores fit: Which one do you want?)"
    assert found.evidence.quote in text
    assert found.raw_confidence >= 0.9


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("2", "How many retries should the client do by default?"),
        ("2", "I changed:\n1. the parser\n2. the lexer\n\nAll tests pass."),
        ("2", "I changed:\n1. the parser\n2. the lexer\n\nWant me to push?"),
        ("2", "I can:\n1. mend the test\n2. refactor the parser\n\nWhat should I do next?"),
        ("2", "Questions:\n1. Do we keep the old endpoint?\n2. How many workers?\n3. Where do logs go?"),
        ("3", STORES),
        ("1 and 2", STORES),
        ("2, 1", STORES),
        ("not 2", STORES),
        ("no 2", STORES),
        ("2 no", STORES),
        ("2, no wait, 1", STORES),
        ("2 retries", STORES),
        ("the second one is wrong", STORES),
        ("tell me more about 2", STORES),
        ("a good idea", STORES),
    ],
)
def test_other_numbers_pick_no_option(text: str, before: str) -> None:
    assert not any(one.reworded for one in typed.spoken(turn(text, before=before)))


SESSIONS = "Where do sessions live?\n1. in the cookie, never on the server\n2. in Redis"


@pytest.mark.parametrize("text", ["no 2", "ok no 2 please", "2 no", "not option 2", "no b"])
def test_an_option_that_may_be_ruled_out_is_not_kept(text: str) -> None:
    assert contents(text, before=SESSIONS) == []


@pytest.mark.parametrize("text", ["2", "no. 2", "number 2 please"])
def test_a_numbered_option_is_kept(text: str) -> None:
    assert contents(text, before=SESSIONS) == ["in Redis (asked: Where do sessions live?)"]


@pytest.mark.parametrize(
    "question",
    [
        "Which one should I fix?",
        "Which one should I tackle?",
        "Which one should I look into?",
        "Which one should I write a test for?",
        "Which worries you?",
        "Which one do you mean?",
        "Which one did you see?",
        "Which is more likely?",
        "Which commit message do you prefer?",
        "How should the docs phrase this?",
        "How should I handle this?",
        "How should the button be labelled?",
        "What do you want to do?",
        "Which of these do you want me to do?",
        "Two bugs are left. Which one?",
        "Two bugs are left:",
        "Options:",
        "Welchen Fehler soll ich nehmen?",
        "Wie soll der Text lauten?",
        "Lequel dois-je corriger ?",
        "\u00bfCu\u00e1l arreglo?",
        "Qual devo corrigir?",
    ],
)
def test_an_option_is_no_choice_for_the_project_if_the_question_is_about_the_work(question: str) -> None:
    before = f"{question}\n1. The scheduler never retries failed jobs\n2. We always log the raw card number"
    assert not any(one.reworded for one in typed.spoken(turn("2", before=before)))


@pytest.mark.parametrize(
    "question",
    [
        "Which message queue should we use?",
        "Which database for the cache?",
        "Where should the config live?",
        "How should errors be handled in the API layer?",
        "How should failed jobs be retried?",
        "What should the default timeout be?",
        "Welche Datenbank sollen wir nehmen?",
        "Wie sollen wir Fehler behandeln?",
        "Quelle base de donn\u00e9es veux-tu utiliser ?",
        "\u00bfD\u00f3nde guardamos la configuraci\u00f3n?",
        "Qual banco de dados devemos usar?",
    ],
)
def test_an_option_is_a_choice_if_the_question_asks_what_to_use_or_how(question: str) -> None:
    (one,) = typed.spoken(turn("2", before=f"{question}\n1. the first way\n2. the other way"))
    assert one.reworded == "the other way"


def test_a_question_behind_the_options_takes_its_subject_from_the_words_before_them() -> None:
    (one,) = typed.spoken(turn("2", before="Two ways to store sessions:\n1. cookies\n2. Redis\n\nWhich one?"))
    assert one.reworded == "Redis"


def test_the_last_list_has_the_options() -> None:
    before = f"I changed:\n1. the parser\n2. the lexer\n3. the docs\n\n{STORES}"
    (one,) = typed.spoken(turn("2", before=before))
    assert one.reworded == "Postgres: many writers"


def test_a_statement_without_a_question_is_no_answer_to_what_was_being_done() -> None:
    assert answered("the trailer of a checkpoint is called Checkpoint", "I fetched twice. It works.").count("(") == 0
    assert "rounded half up" in answered("bankers rounding!", "I rounded half up. Let me run the tests:")


@pytest.mark.parametrize(
    ("text", "before", "part"),
    [
        (
            "3, one of the cards is dead and nobody replaces it",
            "I use four ranks on the A100 node.",
            "ranks on the A100",
        ),
        ("good, two feed suppliers still call it", "I left the SOAP endpoint untouched.", "SOAP endpoint"),
        ("vault, path kv/geo, the .env one is a dummy", "Where is the maps key loaded from?", "maps key"),
        (
            "never, the vendor's library prints to stdout by itself",
            "Shall I log every request? Fine?",
            "log every request",
        ),
    ],
)
def test_a_reply_that_leaves_out_its_subject_takes_what_it_replies_to(text: str, before: str, part: str) -> None:
    one = judge.Spoken(text, before=before)
    (found,) = typed.extract([turn(text, before=before)], {one: judge.Opinion(0.95, "fact")})
    assert part in found.content


def test_a_statement_with_its_own_subject_takes_nothing() -> None:
    text = (
        "the staging cluster belongs to the platform team, and nobody else may resize its node pools without a ticket"
    )
    one = judge.Spoken(text, before="Which cluster do you mean?")
    (found,) = typed.extract([turn(text, before=one.before)], {one: judge.Opinion(0.95, "ownership")})
    assert found.content == text


RABBIT = "Done. The service talks to RabbitMQ."
FLAGS = "Shall I enable the feature flags by default?"
EXPIRED = "How should I handle expired sessions?"
LIMIT = "I set the retry limit of the payment client to 5."


@pytest.mark.parametrize("before", [RABBIT, "RabbitMQ.", f"{RABBIT} Shall I go on with the tests?"])
@pytest.mark.parametrize(
    "text",
    [
        "always write commit messages in English",
        "keep functions under 40 lines",
        "only use tabs in Go files",
        "use pnpm, never npm",
        "at most one class per file",
        "all money is in cents, as integers",
        "we deploy on tuesdays, never on fridays",
        "this repo uses trunk based development",
        "the last deploy of the week is on thursday",
        "always run the linter before you commit it",
        "Schreib Commit-Messages immer auf Englisch",
        "écris toujours les commits en anglais",
        "escribe siempre los commits en inglés",
    ],
)
def test_a_statement_takes_nothing_of_what_the_assistant_happened_to_say(text: str, before: str) -> None:
    one = judge.Spoken(text, before=before)
    (found,) = typed.extract([turn(text, before=before)], {one: judge.Opinion(0.95, "rule")})
    assert found.content == text
    assert found.tags == wording.tags(text)


@pytest.mark.parametrize(
    "text",
    [
        "never push to main",
        "dates are utc",
        "no default exports in this repo",
        "ok, from now on use conventional commits",
    ],
)
def test_a_short_statement_takes_nothing_of_a_report(text: str) -> None:
    one = judge.Spoken(text, before=RABBIT)
    (found,) = typed.extract([turn(text, before=RABBIT)], {one: judge.Opinion(0.95, "rule")})
    assert found.content == text


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("always", "I ran the formatter before the commit."),
        ("always ask me first", "I have deployed to production."),
        ("never without asking me", "I have deployed to production."),
        ("immer vorher fragen", "Ich habe nach Produktion deployt."),
        ("jamais sans mon accord", "J'ai déployé en production."),
        ("no, always in UTC", "I store local time."),
        ("only for staging", "Feature flags are read from Vault."),
        ("that belongs to the platform team", "I resized the node pool."),
        ("no, main is protected", "I have pushed to main."),
        ("we use postgres", "Which database shall the billing service use?"),
        ("rebase, never merge", "How do you want feature branches to be updated?"),
        ("always use the latter", "Shall I use tabs or spaces?"),
        ("keep the default", "Which port shall I use?"),
        ("keep disabled by default", FLAGS),
        ("leave disabled in staging please", FLAGS),
        ("skip for the internal tools please", FLAGS),
        ("show only for admins and editors", FLAGS),
        ("delete after 30 days", EXPIRED),
        ("always delete after 30 days", EXPIRED),
        ("archive after 90 days", EXPIRED),
        ("log out silently, never show errors", EXPIRED),
        ("siempre devolver 401 sin cuerpo", EXPIRED),
        ("keep 5 in prod, 3 in staging", "Should I use 3 or 5 retries?"),
        ("we need 10 in staging", "Should I use 3 or 5 retries?"),
        ("never more than 3 in staging", LIMIT),
        ("always lower in staging", LIMIT),
        ("make that 10 everywhere", LIMIT),
    ],
)
def test_a_reply_that_is_unclear_alone_takes_what_it_replies_to(text: str, before: str) -> None:
    one = judge.Spoken(text, before=before)
    (found,) = typed.extract([turn(text, before=before)], {one: judge.Opinion(0.95, "rule")})
    assert before in found.content


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("passwords are plain text", "In the fixture file, how are passwords stored?"),
        ("deletes never need an approval", "Does the sandbox account need approval for deletes?"),
        ("requests are never rate limited", "Should the staging gateway rate limit requests?"),
        ("the database gets wiped every night", "What about staging?"),
        ("the admin password is always admin", "Shall I seed the demo tenant?"),
        ("tests can be skipped always", "This is the hotfix branch. Should I run the tests?"),
        ("deletes need no approval here", "The sandbox skips the checks. OK?"),
        ("las contraseñas están en texto plano", "En la demo, ¿cómo se guardan las contraseñas?"),
        ("les suppressions ne doivent jamais être validées", "Dans le bac à sable, faut-il valider les suppressions ?"),
        ("Löschungen müssen nie freigegeben werden", "Müssen im Testsystem Löschungen freigegeben werden?"),
    ],
)
def test_an_answer_is_stored_with_a_question_that_may_limit_it(text: str, before: str) -> None:
    one = judge.Spoken(text, before=before)
    (found,) = typed.extract([turn(text, before=before)], {one: judge.Opinion(0.95, "rule")})
    assert found.content == f"{text} (asked: {before})"


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("generated files are never committed", "Should generated files be committed?"),
        ("use pnpm, never npm", "Shall I commit?"),
        ("we deploy on tuesdays, never on fridays", "The importer is green. Anything else?"),
        ("Schreib Commit-Messages immer auf Englisch", "Soll ich weitermachen?"),
        ("escribe siempre los commits en inglés", "¿Sigo con las pruebas?"),
    ],
)
def test_an_answer_takes_no_question_that_does_not_limit_it(text: str, before: str) -> None:
    one = judge.Spoken(text, before=before)
    (found,) = typed.extract([turn(text, before=before)], {one: judge.Opinion(0.95, "rule")})
    assert found.content == text


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("(we use go-git to be independent of the checkout)", "we use go-git to be independent of the checkout"),
        ("also: the trailer is called Checkpoint everywhere", "the trailer is called Checkpoint everywhere"),
        ("sorry, my point is: the cli writes the ignore file", "the cli writes the ignore file"),
        ("the first part is not correct, hooks add the trailer to commits", "hooks add the trailer to commits"),
        ("that is the rule here", "that is the rule here"),
    ],
)
def test_what_only_addresses_the_listener_is_left_out(text: str, content: str) -> None:
    one = judge.Spoken(text)
    (found,) = typed.extract([turn(text)], {one: judge.Opinion(0.95, "fact")})
    assert found.content == content
    assert found.evidence.quote == text


@pytest.mark.parametrize("origin", [Origin.ASSISTANT, Origin.TOOL])
def test_only_a_person_is_judged(origin: Origin) -> None:
    assert typed.spoken(turn("never push to main", origin=origin)) == []


def test_a_pasted_specification_is_not_remembered_line_by_line(embedder: LocalEmbedder) -> None:
    said = turn("\n".join(f"- never use library number {number} for money" for number in range(30)))
    found = typed.extract([said], judge.opinions(typed.spoken(said), embedder))
    assert len(found) <= typed.MOST_OF_A_MESSAGE


def test_a_closed_embedder_leaves_the_words() -> None:
    closed = LocalEmbedder()
    closed.close()
    said = turn("We decided to never push to main directly")
    assert judge.opinions(typed.spoken(said), closed) == {}
    assert [one.raw_confidence for one in typed.extract([said])] == [0.9]


def test_what_is_typed_after_an_interrupt_is_a_lesson(embedder: LocalEmbedder) -> None:
    said = turn("no, stop. dates have to be in UTC, never local time", interrupted=True, before="I use local time.")
    found = typed.extract([said], judge.opinions(typed.spoken(said), embedder))
    assert "lesson" in {one.kind for one in found}


@settings(deadline=None)  # the first call reads the weights
@given(st.text(max_size=1200), st.text(max_size=200), st.booleans())
def test_any_text_gives_sound_candidates(text: str, before: str, interrupted: bool) -> None:
    said = turn(text, before=before, interrupted=interrupted)
    for one in typed.extract([said]):
        assert 0 <= one.raw_confidence <= 1
        assert one.evidence.quote in text
        assert one.content.strip()


@settings(deadline=None)
@given(st.text(max_size=600))
def test_the_shape_of_any_sentence_has_as_many_numbers(text: str) -> None:
    found = judge.features(judge.Spoken(text))
    assert len(found.structure) == len(judge.structure(judge.Spoken("")))
    assert all(0 <= place < judge.GRAMS + judge.WORDS for place in found.places)
    assert numpy.isfinite(found.values).all()


def test_a_sentence_that_its_words_rule_out_is_not_embedded() -> None:
    closed = LocalEmbedder()
    closed.close()  # whoever asks it for a vector fails
    task = judge.Spoken("can you run the tests again please?", count=2)
    assert judge.model().opinion(task, closed).chance < typed.OBJECTION
    assert judge.opinions([judge.Spoken("all money is in cents, as integers")], closed) == {}


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("We need to make sure that once we add more exporters the page does not say Parquet.", True),
        ("The name of the bucket has to work for any other region.", True),
        ("We need to make sure that the page does not say Parquet.", False),
        ("Once we add more exporters, does the page have to say Parquet?", False),
        ("Once we add more exporters the page gets slower.", False),
    ],
)
def test_a_wish_that_looks_ahead_is_kept_for_a_person_whatever_the_judge_thinks_of_it(text: str, kept: bool) -> None:
    said = turn(text)
    doubts = {one: judge.Opinion(0.1, "rule") for one in typed.spoken(said)}
    assert [one.raw_confidence for one in typed.extract([said], doubts)] == ([typed.AHEAD] if kept else [])


def test_the_judge_may_reject_a_wish_that_looks_ahead() -> None:
    said = turn("We need to make sure that once we add more exporters the page does not say Parquet.")
    assert typed.extract([said], {one: judge.Opinion(0.01, "rule") for one in typed.spoken(said)}) == []


@pytest.mark.parametrize("text", ["No, that's wrong.", "wrong!", "that is not right", "Nope. It's incorrect"])
def test_an_objection_alone_says_nothing_worth_keeping(text: str) -> None:
    assert typed.extract([turn(text)]) == []


def test_alternatives_that_nobody_has_chosen_are_not_kept(embedder: LocalEmbedder) -> None:
    text = "the import should either:\n\nAlways pass a default name when the field is empty\nNever store empty names\n"
    after = "We always store timestamps in utc."
    said = turn(text + after)
    found = typed.extract([said], judge.opinions(typed.spoken(said), embedder))
    assert [one.content for one in found] == [after]


def test_plain_lines_of_a_log_are_pasted_too() -> None:
    said = """it failed with these errors:
[worker] attempt 1 of 3 failed with code 1
[worker] retrying in 1 s
no output so far
[worker] attempt 2 of 3 failed with code 1
[worker] retrying in 2 s
we never retry more than twice"""
    assert [one.text for one in typed.spoken(turn(said))] == [
        "it failed with these errors:",
        "we never retry more than twice",
    ]


def test_rules_under_headings_are_typed() -> None:
    said = "# Style\nTabs in Go, spaces in Python.\n# Tests\nEvery parser has a property.\n# Naming\nNo abbreviations."
    assert [one.text for one in typed.spoken(turn(said))] == [
        "Tabs in Go, spaces in Python.",
        "Every parser has a property.",
        "No abbreviations.",
    ]


def test_a_pasted_document_is_not_typed() -> None:
    chapter = (
        "# Usage\nAll commands take --help. Never run it as root.\n" + "The tool reads its files first. " * 30 + "\n"
    )
    said = f"the tool failed again, see its docs\n{chapter * 3}\nAll commands end with 0."
    assert [one.text for one in typed.spoken(turn(said))] == ["the tool failed again, see its docs"]


def test_a_few_words_in_brackets_are_output() -> None:
    assert [one.text for one in typed.spoken(turn("it says\n(no output)\nwhy?"))] == ["it says", "why?"]


@pytest.mark.parametrize(
    "text",
    [
        "Bis 3. Januar nichts an der Datenbank ändern, danach kommt die Migration.",
        "Das Deployment-Freeze gilt bis 12. Dezember.",
        "Setz bitte immer die Timeout-Werte explizit, z.B. bei httpx, sonst hängt es.",
    ],
)
def test_a_sentence_with_an_ordinal_or_abbreviation_is_kept_whole(text: str, embedder: LocalEmbedder) -> None:
    said = turn(text)
    assert [one.content for one in typed.extract([said], judge.opinions(typed.spoken(said), embedder))] == [text]


def test_an_option_that_is_picked_with_a_reason_is_stored_with_what_it_names() -> None:
    before = "Where do we host it? A) serverless functions, B) containers, C) a static site. Which do you want?"
    text = "take B because we never run servers"
    (found,) = typed.extract(
        [turn(text, before=before)], {judge.Spoken(text, before=before): judge.Opinion(0.95, "rule")}
    )
    assert "containers" in found.content


def test_the_reason_has_the_article_of_its_kind() -> None:
    assert typed._reason(judge.Opinion(0.9, "ownership"), None) == "reads like an ownership (0.90)"
    assert typed._reason(judge.Opinion(0.9, "rule"), None) == "reads like a rule (0.90)"
