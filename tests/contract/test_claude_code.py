"""How Claude Code is run as a provider: what its child sees, and what becomes of it."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from subconscious.domain.errors import (
    BadAnswerError,
    KeyRefusedError,
    ProviderError,
    RateLimitedError,
    UnavailableError,
)
from subconscious.llm.providers import Access, Request, claude_code
from subconscious.llm.providers.claude_code import ClaudeCodeProvider
from tests.contract.provider_kits import ClaudeCodeKit

SECRET = "words that nobody else may read"
RESULT = {
    "type": "result",
    "is_error": False,
    "structured_output": {"word": "said"},
    "total_cost_usd": 0.25,
    "modelUsage": {"small": {"inputTokens": 10, "outputTokens": 5, "cacheReadInputTokens": 3, "costUSD": 0.25}},
}


class Said(BaseModel):
    word: str


def make_request() -> Request:
    return Request("test", f"system: {SECRET}", f"text: {SECRET}", Said, max_tokens=321)


def make_provider(folder: Path, body: str, **changes: Any) -> ClaudeCodeProvider:
    """A provider whose client is a small program of the test's."""
    command = folder / "claude"
    command.write_text(f"#!{sys.executable}\nimport json, os, subprocess, sys, time\n{body}\n")
    command.chmod(0o700)
    options = {"command": str(command), "folder": folder / "run"}
    values: dict[str, Any] = {"model": "haiku", "timeout": 20.0, "options": options}
    return ClaudeCodeProvider(Access(**values | changes))


def answering(result: dict[str, Any] | list[dict[str, Any]], before: str = "") -> str:
    return f"{before}\nsys.stdin.read()\nprint(json.dumps(json.loads({json.dumps(result)!r})))"


async def test_the_child_process_gets_only_the_variables_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    foreign = (
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "ANTHROPIC_BASE_URL",
        "HTTPS_PROXY",
        "CLAUDECODE",
        "AWS_PROFILE",
    )
    for name in foreign:
        monkeypatch.setenv(name, "foreign")
    told = tmp_path / "told.json"
    tell = (
        'system = next(each for each in sys.argv if each.startswith("--system-prompt-file=")).partition("=")[2]\n'
        'seen = {"argv": sys.argv, "env": dict(os.environ), "cwd": os.getcwd(), "text": sys.stdin.read(),'
        ' "group": os.getpgrp(), "pid": os.getpid(), "system": open(system).read(),'
        ' "mode": os.stat(system).st_mode & 0o777}\n'
        f"json.dump(seen, open({str(told)!r}, 'w'))"
    )
    reply = await make_provider(tmp_path, answering(RESULT, tell)).ask(make_request())
    assert json.loads(reply.text) == {"word": "said"}
    assert (reply.usage.input, reply.usage.output, reply.usage.cached, reply.usage.cost) == (13, 5, 3, 0.25)
    assert reply.model == "small"
    seen = json.loads(told.read_text())
    assert SECRET not in " ".join(seen["argv"])
    assert seen["text"] == f"text: {SECRET}"
    assert (seen["system"], seen["mode"]) == (f"system: {SECRET}", 0o600)
    assert list((tmp_path / "run").iterdir()) == [], "the instruction is deleted"
    assert seen["cwd"] == str(tmp_path / "run")
    assert seen["group"] == seen["pid"]
    assert "foreign" not in seen["env"].values()
    assert seen["env"]["SUBCONSCIOUS_OFF"] == "1"
    assert seen["env"]["CLAUDE_CODE_MAX_OUTPUT_TOKENS"] == "321"


async def test_one_child_runs_at_a_time(tmp_path: Path) -> None:
    alone = (
        f"lock = {str(tmp_path / 'lock')!r}\nos.mkdir(lock)\nsys.stdin.read()\ntime.sleep(0.05)\nos.rmdir(lock)\n"
        f"print(json.dumps(json.loads({json.dumps(RESULT)!r})))"
    )
    provider = make_provider(tmp_path, alone)
    replies = await asyncio.gather(*(provider.ask(make_request()) for _ in range(4)))
    assert len(replies) == 4


CHILDREN = """
grandchild = subprocess.Popen(["sleep", "300"])
open({!r}, "w").write(f"{{os.getpid()}} {{grandchild.pid}}")
time.sleep(300)
"""


async def test_time_out_takes_the_whole_group(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    provider = make_provider(tmp_path, CHILDREN.format(str(pids)), timeout=3.0)
    with pytest.raises(UnavailableError):
        await provider.ask(make_request())
    await _all_gone(pids)


@pytest.mark.parametrize("way", ["cancel", "close"])
async def test_a_cancelled_or_closed_call_leaves_no_process(tmp_path: Path, way: str) -> None:
    pids = tmp_path / "pids"
    provider = make_provider(tmp_path, CHILDREN.format(str(pids)))
    call = asyncio.create_task(provider.ask(make_request()))
    while not pids.exists() or not pids.read_text():
        await asyncio.sleep(0.01)
    if way == "cancel":
        call.cancel()
    else:
        await provider.close()
    with pytest.raises(asyncio.CancelledError if way == "cancel" else ProviderError):
        await call
    await _all_gone(pids)


async def _all_gone(pids: Path) -> None:
    for pid in pids.read_text().split():
        while _lives(int(pid)):
            await asyncio.sleep(0.01)


def _lives(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


async def test_a_child_that_writes_without_end_is_stopped(tmp_path: Path) -> None:
    provider = make_provider(tmp_path, "while True: sys.stdout.write('x' * 65536)")
    with pytest.raises(BadAnswerError):
        await provider.ask(make_request())


async def test_a_child_is_ended_while_its_output_waits_to_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = claude_code._read

    async def late(child: asyncio.subprocess.Process) -> bytes:
        await asyncio.sleep(0.5)  # until asyncio reads no more
        return await read(child)

    monkeypatch.setattr(claude_code, "_read", late)
    monkeypatch.setattr(claude_code, "MAX_OUTPUT", 1000)
    provider = make_provider(tmp_path, "while True: sys.stdout.write('x' * 65536)")
    async with asyncio.timeout(8):
        with pytest.raises(BadAnswerError):
            await provider.ask(make_request())


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("sys.exit(1)", UnavailableError),
        ("print('error: unknown option')", UnavailableError),
        ("print('[]')", UnavailableError),
        (
            answering({"type": "result", "is_error": True, "result": "Not logged in · Please run /login"}),
            KeyRefusedError,
        ),
        (
            answering({"type": "result", "is_error": True, "result": "You've hit your limit · resets 3pm"}),
            RateLimitedError,
        ),
        (
            answering({"type": "result", "is_error": True, "result": "Claude AI usage limit reached|4000000000"}),
            RateLimitedError,
        ),
        (
            answering({"type": "result", "is_error": True, "result": "5-hour limit reached", "api_error_status": 429}),
            RateLimitedError,
        ),
        (answering(RESULT | {"structured_output": None, "result": ""}), BadAnswerError),
        (answering(RESULT | {"stop_reason": "max_tokens"}), BadAnswerError),
        (answering(RESULT | {"stop_reason": "refusal"}), BadAnswerError),
        (answering(RESULT | {"subtype": "error_max_structured_output_retries", "is_error": True}), BadAnswerError),
    ],
)
async def test_what_a_client_may_say_instead(tmp_path: Path, body: str, expected: type[ProviderError]) -> None:
    with pytest.raises(expected) as caught:
        await make_provider(tmp_path, body).ask(make_request())
    assert caught.value.remedy
    if expected is BadAnswerError:
        assert caught.value.usage is not None
        assert caught.value.usage.cost == 0.25


async def test_a_reached_limit_says_when_it_is_over(tmp_path: Path) -> None:
    reset = int(time.time()) + 900
    said = {"type": "result", "is_error": True, "result": f"Claude AI usage limit reached|{reset}"}
    with pytest.raises(RateLimitedError) as caught:
        await make_provider(tmp_path, answering(said)).ask(make_request())
    assert caught.value.retry_after == pytest.approx(900, abs=60)
    assert "usage limit" in caught.value.message


def near(status: str, **own: Any) -> dict[str, Any]:
    return {"type": "rate_limit_event", "rate_limit_info": {"status": status, "rateLimitType": "five_hour", **own}}


async def test_a_near_limit_is_left_to_the_person(tmp_path: Path) -> None:
    reset, ran = int(time.time()) + 900, tmp_path / "ran"
    count = f"open({str(ran)!r}, 'a').write('x')"
    said = [{"type": "system"}, near("allowed"), near("allowed_warning", resetsAt=reset), RESULT]
    provider = make_provider(tmp_path, answering(said, count))
    assert json.loads((await provider.ask(make_request())).text) == {"word": "said"}
    with pytest.raises(RateLimitedError) as caught:
        await provider.ask(make_request())
    assert caught.value.retry_after == pytest.approx(900, abs=60)
    assert "is near" in caught.value.message
    assert ran.read_text() == "x"


async def test_a_limit_that_is_far_pauses_nothing(tmp_path: Path) -> None:
    provider = make_provider(tmp_path, answering([near("allowed_warning"), near("allowed"), RESULT]))
    for _ in range(2):
        assert json.loads((await provider.ask(make_request())).text) == {"word": "said"}


async def test_a_missing_login_is_detected_without_a_request(tmp_path: Path) -> None:
    with pytest.raises(KeyRefusedError) as caught:
        await make_provider(tmp_path, "print(json.dumps({'loggedIn': False})); sys.exit(1)").check()
    assert "/login" in caught.value.remedy


def test_a_missing_client_is_reported_with_a_remedy() -> None:
    with pytest.raises(ProviderError) as caught:
        ClaudeCodeProvider(Access("haiku", options={"command": "no-such-claude"}))
    assert "install" in caught.value.remedy


async def test_a_client_that_cannot_be_started_says_so(tmp_path: Path) -> None:
    provider = make_provider(tmp_path, "")
    (tmp_path / "claude").write_text("#!/no/such/interpreter\n")
    with pytest.raises(ProviderError) as caught:
        await provider.ask(make_request())
    assert caught.value.remedy


@pytest.mark.client
@pytest.mark.parametrize("kit", ["claude_code"], indirect=True)
async def test_the_users_hooks_and_settings_are_not_used(kit: ClaudeCodeKit, tmp_path: Path) -> None:
    """With a hook and notes in the user's own settings: neither is run, neither is sent."""
    config, fired = tmp_path / "config", tmp_path / "fired"
    config.mkdir()
    hook = {"hooks": [{"type": "command", "command": f"touch {fired}"}]}
    settings = {"hooks": {event: [hook] for event in ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd")}}
    (config / "settings.json").write_text(json.dumps(settings))
    (config / "CLAUDE.md").write_text("A note of the user's: foreign.")
    kit.say('{"word": "said"}')
    await kit.open().ask(make_request())
    assert not fired.exists()
    [(system, text)] = kit.asked()
    assert "foreign" not in f"{system}{text}"
    assert not [path for path in config.rglob("*.jsonl") if path.stat().st_size], "no transcript is kept"
