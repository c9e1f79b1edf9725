"""A memory must not be replaced by a look-alike."""

from __future__ import annotations

from bench.hostile.case import Stage, case, hold

LOOK_ALIKES = (
    ("Remember: we chose SQLite for the queue.", "Remember: we broke SQLite for the queue."),
    ("Remember: only the parser uses the lexer.", "Remember: the parser uses only the lexer."),
    ("Remember: use the mock of the client.", "Remember: use the client of the mock."),
    ("Remember: without a VPN the deploy works.", "Remember: without a VPN the deploy does not work."),
    ("Remember: the job does not stop if the lock is set.", "Remember: the job stops if the lock is not set."),
    ("Remember: in the worker the API is called.", "Remember: in the API the worker is called."),
)


@case("sameness", "statements of the same words that mean something else do not replace each other")
def look_alikes(stage: Stage) -> None:
    stage.configure(embedder='"local"')
    stage.start()
    for at, texts in enumerate(zip(*LOOK_ALIKES, strict=True)):
        speaker = stage.speaker()
        for text in texts:
            speaker.hook("wake", "SessionStart", source="startup")
            speaker.hook("ask", "UserPromptSubmit", prompt=text)
            speaker.say(text)
            speaker.hook("drop", "Stop", stop_hook_active=False, last_assistant_message="Noted.")
        stage.drain(60)
        kept = stage.active()
        wanted = (at + 1) * len(texts)
        hold(len(kept) == wanted, f"{len(kept)} of {wanted} memories are in use: {kept}")


SAID_AGAIN = (
    ("Remember: the tests fail without a running Redis.", "Remember: without a running Redis the tests fail."),
    ("Remember: commit messages must not contain emojis.", "Remember: no emojis in commit messages."),
    ("Remember: the mailer crashes if REDIS_URL is missing.", "Remember: without REDIS_URL the mailer crashes."),
)


@case("sameness", "what is said again in another voice or order does not pile up")
def said_again(stage: Stage) -> None:
    stage.configure(embedder='"local"')
    stage.start()
    for texts in zip(*SAID_AGAIN, strict=True):
        speaker = stage.speaker()
        for text in texts:
            speaker.hook("wake", "SessionStart", source="startup")
            speaker.hook("ask", "UserPromptSubmit", prompt=text)
            speaker.say(text)
            speaker.hook("drop", "Stop", stop_hook_active=False, last_assistant_message="Noted.")
        stage.drain(60)
        kept = stage.active()
        hold(len(kept) == len(texts), f"{len(kept)} of {len(texts)} memories are in use: {kept}")
