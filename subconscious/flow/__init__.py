"""The story: what was said becomes memories, a question becomes a ranking, a session is given what it needs."""
