"""The hooks that Claude Code calls: write events to the spool, ask the daemon, start the daemon.

Standard library only, Python 3.9 and newer, exit code 0 on every failure. docs/protocol.md has the rules.
"""
