"""Hand-overs do not quote what the user, or a later report of the same session, corrected."""

from __future__ import annotations

from pathlib import Path

import pytest

from subconscious.sessions import Sketch, Transcript, handover_of, with_answers
from subconscious.sessions.corrected import without, without_contradicted, without_corrected, without_undone
from subconscious.transcripts import State, read_turns
from tests.unit.test_answers import PAD, transcript

RETRIED = "Failed SMS are now retried 5 times with exponential backoff, capped at 10 minutes."


def after(tmp_path: Path, *said: str, at_once: bool) -> Sketch:
    """Return the sketch of a session in which the user and the assistant said something by turns.

    ``at_once`` means that its transcript is read at the end, and not after each turn.
    """
    path = transcript(tmp_path, *((asked, (), answer) for asked, answer in zip(said[::2], said[1::2], strict=True)))
    reading = read_turns(path, 0, State(), final=True)
    sketch = Sketch()
    for batch in [reading.turns] if at_once else [[one] for one in reading.turns]:
        sketch = with_answers(sketch.after(batch), Transcript(path, reading.offset))
    return sketch


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("between", [(), ("rename send_sms to dispatch_sms", "Renamed.")])
def test_a_number_that_the_user_corrected_is_not_handed_over(
    tmp_path: Path, at_once: bool, between: tuple[str, ...]
) -> None:
    said = ("5, exponential, cap at 10 min", RETRIED, *between)
    corrected = (*said, "wait actually 3 retries are enough, the provider charges per try", "Changed to 3 attempts.")
    last = ("no deploys to prod this week", "Understood, no production deploys until Friday.")
    assert "retried 5 times" in handover_of(after(tmp_path, *said, *last, at_once=at_once)).reported
    sketch = after(tmp_path, *corrected, *last, at_once=at_once)
    assert "5 times" not in handover_of(sketch).to_json()
    assert RETRIED not in sketch.to_json()


@pytest.mark.parametrize("at_once", [True, False])
def test_of_two_reports_on_a_subject_the_later_one_is_handed_over(tmp_path: Path, at_once: bool) -> None:
    first = f"Sessions of the shop expire after 30 minutes. Added `ttl` to the settings of the shop. {PAD}"
    later = f"Changed it: sessions of the shop now expire after 60 minutes. {PAD}"
    sketch = after(
        tmp_path, "when do they expire?", first, "is that long enough for a checkout?", later, at_once=at_once
    )
    assert "30 minutes" not in sketch.to_json()
    assert "60 minutes" in sketch.to_json()
    assert "Added `ttl` to the settings of the shop." in handover_of(sketch).reported


@pytest.mark.parametrize(
    "prompt",
    [
        "wait actually 3 is enough, the provider charges per try",
        "no, 3",
        "make it 3 then",
        "could you make it 3?",
        "retries: 3 please",
        "set retries to three",
        "change the retries from 5 to 3",
        "5 times is too often",
        "not exponential, linear",
        "instead of exponential use linear",
        "actually let's drop the backoff",
        "that's wrong",
        "undo that",
        "lieber 3",
        "drei reichen",
        "nein, falsch",
        "nicht exponential, sondern linear",
        "non, 3 suffisent",
        "mejor 3",
    ],
)
def test_a_correction_of_the_answer_before_it(prompt: str) -> None:
    assert without_corrected([RETRIED], prompt, [RETRIED]) == []


@pytest.mark.parametrize(
    "prompt",
    [
        "ok, commit",
        "no worries, thanks",
        "wait",
        "why 3 retries?",
        "fix issue 45",
        "add 3 tests for the worker",
        "now rename send_sms to dispatch_sms",
        "no, don't commit yet",
        "perfekt, weiter",
        "> retries: 3\n- retries are 3 there\nwhy does the log say that?",
    ],
)
def test_a_prompt_that_corrects_nothing(prompt: str) -> None:
    assert without_corrected([RETRIED], prompt, [RETRIED]) == [RETRIED]


@pytest.mark.parametrize(
    ("prompt", "sentence", "is_kept"),
    [
        ("and retries: 3 again, failed tries are free", RETRIED, False),
        ("cap at 5 minutes", RETRIED, False),
        ("we moved off redis, the queue is NATS now", "The queue uses Redis now.", False),
        ("port 9090 please", "The endpoint listens on port 8080.", False),
        ("the port is 9090 in staging", "The endpoint listens on port 8080.", True),
        ("fix the 2 tests in b.py", "Added 3 tests to `a.py`.", True),
        ("no, 3", RETRIED, True),
        ("pool size 20", RETRIED, True),
        ("wait 5 minutes before the poller starts", RETRIED, True),
    ],
)
def test_an_older_report_is_corrected_by_what_names_its_subject(prompt: str, sentence: str, is_kept: bool) -> None:
    assert without_corrected([sentence], prompt) == [sentence] * is_kept


def test_only_the_corrected_sentences_are_left_out() -> None:
    said = ["Retries are set to 5.", "The cap is 10 minutes."]
    assert without_corrected(said, "wait, cap at 5 min", said) == said[:1]
    said = ["The cache is kept in memory now.", "Fixed the typo in README."]
    assert without_corrected(said, "no, the cache goes into redis", said) == said[1:]


def test_an_answer_to_a_question_corrects_no_report() -> None:
    said = ["Set up a worker with 2 queues."]
    assert without_corrected(said, "no, only the worker", said, asked=True) == said
    assert without_corrected(said, "no, only the worker", said) == []


def test_a_later_report_contradicts_an_earlier_one() -> None:
    said = ["The limit is 5 requests per minute.", "Fixed 3 bugs in the parser."]
    assert without_contradicted(said, "The limit is now 10 requests per minute. Fixed 2 bugs in the lexer.") == said[1:]
    assert without_contradicted(said, "Should the limit be 10 requests per minute now?") == said
    said = ["The queue uses Redis.", "Branches are now sorted by most recent activity."]
    assert without_contradicted(said, "Now the queue uses NATS. A session is now only active on a branch.") == said[1:]


def test_sentences_are_removed_from_a_report_with_their_markup() -> None:
    assert without("## Done\n- **Retries** are 5.\n- Caps are 10.", ["Retries are 5."]) == "## Done\n\n- Caps are 10."


DONE = [
    "I added the retry limit of 5 retries to the payment client.",
    "All 42 tests pass.",
    "I moved the login form into a component.",
    "The cache uses Redis now.",
]


@pytest.mark.parametrize(
    "prompt",
    [
        "nope all good",
        "non c'est bon",
        "nein passt",
        "non, parfait",
        "actually nice",
        "no not yet",
        "no, continue",
        "no further comments. commit",
        "actually also add a test for the login form",
        "no objections, continue with the cache",
        "sorry, one more thing: the login form needs a label",
        "sorry, can you also add a test for the login form?",
        "moment, noch ein test für das login",
        "wait, first commit the cache",
        "this is not urgent: add a docs page on the cache",
        "use 3 workers for the tests, that's enough",
        "commit everything but not the cache",
    ],
)
def test_an_approval_or_another_wish_corrects_nothing(prompt: str) -> None:
    assert without_corrected(DONE, prompt, DONE) == DONE


@pytest.mark.parametrize(
    ("prompt", "wrong"),
    [
        ("that's not right", DONE),
        ("this is not correct", DONE),
        ("undo that, continue", DONE),
        ("sorry, use 3 retries instead", DONE[:1]),
        ("wait, can you use 3 retries instead?", DONE[:1]),
        ("no, use postgres for the cache", DONE[3:]),
        ("wait, the login form stays where it was", DONE[2:3]),
    ],
)
def test_a_rejection_is_no_approval(prompt: str, wrong: list[str]) -> None:
    assert without_corrected(DONE, prompt, DONE) == [one for one in DONE if one not in wrong]


@pytest.mark.parametrize(
    "prompt",
    """please revert|please undo that|can you undo that?|git revert that please|uh no|thats wrong|roll it back
    take that out|remove the retries again|drop the backoff|we don't want retries at all|i don't want that|lower it to 3
    should be 3|it should be 3 retries|too many, 3|that's too many|keep it at 3|3!!|nooo|that was dumb, undo
    undo the sms change|no, don't retry|no, linear|restore the old version|mach das rückgängig|nimm das wieder raus
    das wollen wir nicht|das ist zu oft|deshazlo|quita eso|no queremos reintentos. quita eso|enlève ça
    on ne veut pas ça|desfaz isso|não quero isso""".replace("\n", "|").split("|"),
)
def test_work_that_is_to_be_undone_or_changed_is_not_handed_over(prompt: str) -> None:
    assert without_corrected([RETRIED], prompt.strip(), [RETRIED]) == []


@pytest.mark.parametrize(
    "prompt",
    """no docs|no snacks for this|nope that's all|no that's it|no, keep it|no, don't|that's not bad|actually i like it
    actually that's clever|no!! finally it works|no way, great|wrong channel sorry|sorry, i was away. continue
    actually let me check myself|sorry for the typo|wait for ci then merge|moment, läuft der server?|no está mal
    das ist nicht schlecht|nein, das war's|non, c'est tout|remove the unused import|delete the old branch
    drop the debug logs in the login worker|you don't need to revert that|we don't need docs|we can revert later
    undo button: add it to the toolbar|revert button doesn't work|add support for undo|reset the database
    git revert is confusing, explain it|undo support in the editor is next|undo/redo should work in the editor
    revert commit abc123 on staging|roll back the deploy on staging|restore the old logo in the header
    git restore the readme|it's broken on safari|i said continue|rückgängig machen soll im Editor gehen
    mach den Deploy auf Staging rückgängig|revierte el despliegue en staging|annule le déploiement
    mach das nicht rückgängig
    broken build in CI|run it 3 times|set it up on port 8080|move on to issue 17|do 2 and 4""".replace("\n", "|").split(
        "|"
    ),
)
def test_a_message_that_is_no_objection_leaves_the_report(prompt: str) -> None:
    assert without_corrected(DONE, prompt.strip(), DONE) == DONE


def test_an_order_to_undo_a_part_leaves_the_others() -> None:
    assert without_corrected(DONE, "please undo the redis cache", DONE) == DONE[:3]
    assert without_corrected(DONE, "can you take the login form out again?", DONE) == [*DONE[:2], DONE[3]]


@pytest.mark.parametrize(
    "prompt",
    """i said no|undo what you did|undo the last two changes|revert to the previous version|git reset --hard HEAD
    undo it because the tests fail|it's not working|wrong approach|that's not what i asked for
    kannst du das rückgängig machen|nimm bitte alles wieder raus|nein, mach die letzte Änderung rückgängig
    revierte los cambios|annule les modifications
    desfaz as alterações|undo that refactoring|please undo your last edit""".replace("\n", "|").split("|"),
)
def test_an_order_to_undo_that_names_nothing_is_about_the_whole_report(prompt: str) -> None:
    assert without_corrected(DONE, prompt.strip(), DONE) == []


def test_a_report_about_an_undo_button_is_not_undone_by_its_name() -> None:
    said = ["Added an undo button to the toolbar.", "All 42 tests pass."]
    assert without_corrected(said, "undo button should be blue", said) == said
    assert without_corrected(said, "undo the button in the toolbar", said) == said[1:]
    assert without_corrected(said, "undo that", said) == []


@pytest.mark.parametrize(
    "answer",
    """Reverted.|Done, I've reverted it.|Rolled it back. All green.|Revertido.|Done. I reverted it.|Ok, I've undone it.
    You're absolutely right, sorry. I've reverted everything.|He revertido el cambio.|J'ai annulé les modifications.
    Já revertido.|Ich habe die Änderung rückgängig gemacht.|Erledigt. Ich habe alles zurückgenommen.""".replace(
        "\n", "|"
    ).split("|"),
)
def test_an_answer_says_that_work_was_undone(answer: str) -> None:
    assert without_undone(DONE, answer.strip()) == []


def test_an_answer_about_other_work_undoes_nothing() -> None:
    assert without_undone(DONE, "Undone items are sorted last now.") == DONE
    assert without_undone(DONE, "The revert button works.") == DONE
    assert without_undone(DONE, "Reverted the redis cache.") == DONE[:3]
    assert without_undone(DONE, "Ok. I've undone the login form.") == [*DONE[:2], DONE[3]]
    assert without_undone(DONE, "Ich habe den Redis-Cache rückgängig gemacht.") == DONE[:3]
    for answer in (
        "Reverted the deploy on staging.",
        "Restored the old logo.",
        "Ich habe nichts rückgängig gemacht.",
        "Wrote the migration for staging. Reverted it.",
    ):
        assert without_undone(DONE, answer) == DONE


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("answers", [("Reverted.",), ("Undone.", "Understood, no deploys.")])
def test_a_report_that_was_undone_on_an_unclear_request_is_not_handed_over(
    tmp_path: Path, at_once: bool, answers: tuple[str, ...]
) -> None:
    turns = zip(("bring back how it was", "no deploys this week"), answers, strict=False)
    sketch = after(tmp_path, "retry", RETRIED, *(said for turn in turns for said in turn), at_once=at_once)
    assert RETRIED not in sketch.to_json()
