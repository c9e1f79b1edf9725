"""Large repetitive messages must not delay the daemon's answers to hooks."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

from bench.hostile.case import Stage, case, hold
from bench.sessions import Speaker

SLOWEST = 0.25
"""Seconds that any answer may take meanwhile; a hook at a prompt waits 0.3."""

MEGABYTE = 1_000_000
KEY = "api_key = " + "A" * 70 + "!\n"
PIECES = ("[", "](", "ab\n", "- a\n", "1.1.", "key: ", "<tick>", "```\n", "\u0301")
MORE_PIECES = (
    "`",
    "a ",
    "x=",
    "a",
    "1",
    ".",
    " ",
    "\n",
    "\u65e5",
    "<a ",
    "</",
    "**a** ",
    "git add ",
    "AbC",
    "-",
    "took '-",
)


def _begun(stage: Stage) -> Speaker:
    """A session in a daemon that has loaded what its first session needs."""
    stage.start()
    speaker = stage.speaker()
    speaker.hook("wake", "SessionStart", source="startup")
    _exchange(speaker, "We decided to store amounts as integer cents.", "Noted: amounts are integer cents.")
    stage.drain()
    return speaker


def _exchange(speaker: Speaker, prompt: str, answer: str) -> None:
    speaker.say(prompt)
    speaker.say(answer, "assistant")
    speaker.hook("drop", "Stop", stop_hook_active=False, last_assistant_message=answer[-2000:])


def _answers_meanwhile(stage: Stage, tries: Callable[[Speaker], None], seconds: float = 5) -> None:
    speaker = _begun(stage)
    with ThreadPoolExecutor(1) as pool:
        measured = pool.submit(stage.slowest_answer, seconds)
        tries(speaker)
        slowest = measured.result()
    stage.drain(60)
    hold(slowest < SLOWEST, f"an answer took {slowest:.2f} s")


def _text(piece: str, size: int = MEGABYTE) -> str:
    return (piece * (size // len(piece) + 1))[:size]


@case("patterns", "an answer of 20,000 brackets does not hold up other answers")
def brackets(stage: Stage) -> None:
    _answers_meanwhile(stage, lambda speaker: _exchange(speaker, "Fix the bug.", "[" * 20_000))


@case("patterns", "an API key of 70 capital letters does not hold up other answers")
def capitals(stage: Stage) -> None:
    _answers_meanwhile(stage, lambda speaker: _exchange(speaker, f"Use this:\n{KEY}", "Done."))


@case("patterns", "1 MB of one piece as an answer does not hold up other answers", quick=False)
def answers(stage: Stage) -> None:
    def tries(speaker: Speaker) -> None:
        for piece in PIECES[:4]:
            _exchange(speaker, "Fix it.", _text(piece))

    _answers_meanwhile(stage, tries, 10)


@case("patterns", "1 MB of one piece as a prompt, typed and handed over, does not hold up other answers", quick=False)
def prompts(stage: Stage) -> None:
    def tries(speaker: Speaker) -> None:
        for piece in PIECES[4:]:
            speaker.hook("ask", "UserPromptSubmit", prompt=_text(piece))
            _exchange(speaker, _text(piece), "Done.")

    _answers_meanwhile(stage, tries, 15)


@case("patterns", "1 MB of one piece as a tool's output and error does not hold up other answers", quick=False)
def outputs(stage: Stage) -> None:
    def tries(speaker: Speaker) -> None:
        for piece in PIECES[:3]:
            speaker.tool("Read", _text(piece))
            speaker.hook("ask", "PostToolUseFailure", tool_name="Bash", tool_input={}, error=_text(piece))
        _exchange(speaker, "What does it say?", "It says that amounts are integer cents.")

    _answers_meanwhile(stage, tries, 15)


@case("patterns", "a command of 1 MB does not hold up other answers")
def commands(stage: Stage) -> None:
    typed = "/subconscious:remember " + _text(KEY)

    def tries(speaker: Speaker) -> None:
        speaker.hook("ask", "UserPromptSubmit", prompt=typed)

    _answers_meanwhile(stage, tries)


@case("patterns", "1 MB of many other pieces in both roles does not hold up other answers", quick=False)
def everything(stage: Stage) -> None:
    texts = list(chain.from_iterable((_text(piece), f"{_text(piece, 5000)}\n\n{KEY}") for piece in MORE_PIECES))

    def tries(speaker: Speaker) -> None:
        for text in texts:
            _exchange(speaker, text, text)

    _answers_meanwhile(stage, tries, 15)
