"""Run public prompt-injection detectors, line by line, with the Python of an environment that has them.

    pip install agent-memory-guard agentbastion ai-injection-guard bastionmemory clawguard-core

Those that are not installed are left out. Standard library only, and none of ours.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

NAIVE = re.compile(r"(?i)\b(?:ignore|disregard|forget)\b.{0,30}\b(?:previous|prior|above)\b.{0,30}\binstructions?\b")


def detectors() -> Iterator[tuple[str, Callable[[str], str]]]:
    """Give those that can be imported here."""
    yield "naive regex", lambda text: "blocked" if NAIVE.search(text) else "clean"
    for make in (_memory_guard, _clawguard, _bastionmemory, _agentbastion, _injection_guard):
        try:
            yield make.__name__.strip("_").replace("_", " "), make()
        except ImportError:
            continue


def _memory_guard() -> Callable[[str], str]:
    module: Any = import_module("agent_memory_guard")
    guard = module.MemoryGuard(policy=module.Policy.strict())

    def ask(text: str) -> str:
        try:
            guard.write("session.notes", text)
        except module.PolicyViolation:
            return "blocked"
        return "clean"

    return ask


def _clawguard() -> Callable[[str], str]:
    scanner = import_module("clawguard_core").Scanner()
    return lambda text: "flagged" if scanner.scan(text).detected else "clean"


def _bastionmemory() -> Callable[[str], str]:
    models, scanner = import_module("bastionmemory.models"), import_module("bastionmemory.scanner")
    return lambda text: "flagged" if scanner.scan([models.MemoryEntry(file="note", line=1, text=text)]) else "clean"


def _agentbastion() -> Callable[[str], str]:
    firewall = import_module("agentbastion").Firewall()
    return lambda text: "clean" if firewall.check_tool_result(text).allowed else "blocked"


def _injection_guard() -> Callable[[str], str]:
    scanner = import_module("prompt_shield").PromptScanner(threshold="MEDIUM")
    return lambda text: "clean" if scanner.scan(text).severity in ("SAFE", "LOW", "NONE") else "flagged"


def main() -> None:
    # What a detector prints itself must not stand between our lines.
    out, sys.stdout = sys.stdout, sys.stderr
    found = dict(detectors())
    print(json.dumps(list(found)), file=out, flush=True)
    for line in sys.stdin:
        text, told = json.loads(line), {}
        for name, ask in found.items():
            begun = time.process_time()
            told[name] = (ask(text), time.process_time() - begun)
        print(json.dumps(told), file=out, flush=True)


if __name__ == "__main__":
    main()
