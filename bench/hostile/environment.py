"""A session's environment must not serve other sessions."""

from __future__ import annotations

from bench.hostile.case import Stage, case, hold


@case("environment", "SUBCONSCIOUS_CAPTURE=false in one session does not stop learning in another")
def capture_off_elsewhere(stage: Stage) -> None:
    quiet = stage.speaker("quiet")
    quiet.environment["SUBCONSCIOUS_CAPTURE"] = "false"
    quiet.hook("wake", "SessionStart", source="startup")
    stage.start()
    other = stage.speaker("other")
    other.hook("wake", "SessionStart", source="startup")
    text = "Remember: amounts are stored as integer cents, never as floats."
    other.hook("ask", "UserPromptSubmit", prompt=text)
    other.say(text)
    other.hook("drop", "Stop", stop_hook_active=False, last_assistant_message="Noted.")
    stage.drain()
    hold("integer cents" in str(stage.memories()), "nothing was learned in the other session")
