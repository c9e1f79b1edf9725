"""Reads text files that Claude Code loads or writes: its own notes, CLAUDE.md and rules files. Writes none of them."""
