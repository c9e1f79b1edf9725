"""The hooks that Claude Code calls: write events to the spool, ask the daemon, start the daemon.

They use only the standard library of Python 3.9 and newer, and exit with 0 on every failure. docs/protocol.md has the
rules.
"""
