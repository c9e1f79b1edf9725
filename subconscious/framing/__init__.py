"""Framing: how memories are worded, marked and cut to a budget where Claude Code reads them."""
