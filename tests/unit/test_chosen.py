"""What a person settled by an act: answers with their questions, and the decisions inside an approved plan."""

from __future__ import annotations

from subconscious.capture.detectors.chosen import answers, plans
from subconscious.capture.exchange import Exchange
from subconscious.capture.passages import LONGEST
from subconscious.domain.model import Act, Origin, Role, Turn
from subconscious.transcripts.speech import ANSWERS, QUESTION_TOOL
from subconscious.transcripts.speech import answers as read


def settled(text: str, act: Act) -> Exchange:
    return Exchange(turns=[Turn("t", "s", Role.USER, Origin.ASSISTANT, text, 1.0, "", 0, 1, act=act)])


def decided(question: str, answer: str, description: str) -> str:
    option = {"label": answer, "description": description}
    record = {
        "toolUseResult": {"answers": {question: answer}, "questions": [{"question": question, "options": [option]}]}
    }
    (draft,) = answers(settled(read(record, [QUESTION_TOOL]), Act.ANSWERED))
    return draft.content


def test_arrows_in_a_question_do_not_end_it() -> None:
    question = f"Should the pipeline show its steps (plan{ANSWERS}execute{ANSWERS}report) as one sequence?"
    assert decided(question, "Linear", f"Plan{ANSWERS}execute, in one row.") == (
        "Should the pipeline show its steps (plan -> execute -> report) as one sequence? Decided: Linear: "
        f"Plan{ANSWERS}execute, in one row."
    )


def test_a_long_question_gives_room_to_its_answer() -> None:
    asked = "Should there be two separate diffs or one combined diff?"
    description = f"Both {'kept ' * 50}for review."
    content = decided(f"{'The errors run in parallel batches. ' * 8}{asked}", "Two diffs", description)
    assert asked in content
    assert content.endswith("for review.")
    assert len(content) <= LONGEST


def test_what_a_plan_rules_out_with_a_reason_is_a_decision() -> None:
    text = (
        "# Plan: Move the exporter\n\nThe exporter writes files instead of streaming, because proxies cut streams off."
    )
    (draft,) = plans(settled(text, Act.APPROVED))
    assert draft.content.startswith("The exporter writes files instead of streaming")


def test_what_a_plan_says_is_wrong_or_weighs_is_none() -> None:
    text = (
        "# Plan: Mend the exporter\n\n"
        "The error is caught, but the loop crashes with an undefined result, because the pool is not awaited.\n\n"
        "Keep the identifier instead of removing it, because it names the session: actually, it could go, too.\n\n"
        "The loader does not read the second column, because the parser stops at an empty cell of the row.\n"
    )
    assert list(plans(settled(text, Act.APPROVED))) == []
