"""Framing: how memories are worded, marked and fitted into a budget in the texts that Claude Code reads."""
