"""Text files that Claude Code loads or writes: its own notes, CLAUDE.md and rules files. Read, never written."""
