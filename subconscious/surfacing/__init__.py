"""Chooses the memories that are added to a session's context: at its start, and with a prompt, a file or an error."""
