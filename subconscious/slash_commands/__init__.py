"""Commands that are typed in Claude Code as /subconscious:NAME."""
