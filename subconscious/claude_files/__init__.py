"""What Claude Code itself loads or writes as text: its own notes, CLAUDE.md and rules files. Read, never written."""
