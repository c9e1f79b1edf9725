"""Measure the MCP server: tokens of its descriptions, start time and memory before and after the first call.

``python -m bench.tools [runs]`` prints medians.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
PREFIX = "mcp__plugin_subconscious_memory__"
ABOUT = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
SAID = (
    {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": ABOUT},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
)


def described() -> int:
    """Tokens of all tools as Claude Code describes them to the model."""
    known = json.loads((ROOT / "hooks" / "tools.json").read_text())
    told = [
        {"name": PREFIX + tool["name"], "description": tool["description"], "input_schema": tool["inputSchema"]}
        for tool in known["tools"]
    ]
    return (len(json.dumps(told, separators=(",", ":"))) + len(known["instructions"])) // 4


def started(command: Sequence[str], environ: dict[str, str]) -> tuple[float, float, float]:
    """Milliseconds until the tools are listed, those of processor time, and the memory in MB."""
    began = time.perf_counter()
    with subprocess.Popen(command, env=environ, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin
        assert server.stdout
        server.stdin.write("".join(json.dumps(one) + "\n" for one in SAID).encode())
        server.stdin.flush()
        for _ in range(2):
            server.stdout.readline()
        listed = (time.perf_counter() - began) * 1000
        folder = Path(f"/proc/{server.pid}")
        spent = sum(map(int, (folder / "stat").read_text().rpartition(")")[2].split()[11:15]))
        pages = int((folder / "statm").read_text().split()[1])
        server.stdin.close()
    page, tick = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_CLK_TCK")
    return listed, spent * 1000 / tick, pages * page / 1e6


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    print(f"descriptions of all tools: {described()} tokens")
    with tempfile.TemporaryDirectory() as state:
        own = Path(state) / "env" / "current" / "bin"
        own.mkdir(parents=True)
        (own / "python").symlink_to(Path(sys.executable).resolve())
        environ = {**os.environ, "SUBCONSCIOUS_HOME": state, "PYTHONPATH": str(ROOT)}
        for name, command in (
            ("before the first call", ["/bin/sh", str(ROOT / "hooks" / "mcp")]),
            ("the server itself", [sys.executable, "-P", "-m", "cli", "mcp"]),
        ):
            figures = zip(*(started(command, environ) for _ in range(runs)), strict=True)
            listed, spent, memory = map(median, figures)
            print(f"{name}: tools listed after {listed:.0f} ms ({spent:.0f} ms of processor time), {memory:.0f} MB")


if __name__ == "__main__":
    main()
