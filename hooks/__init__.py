"""What Claude Code calls: a pipe into the spool, a question to the daemon, and what brings the daemon up.

Standard library only, Python 3.9 and newer, exit code 0 whatever is broken. docs/protocol.md holds the rules.
"""
