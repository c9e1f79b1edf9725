"""Chooses the memories that a session is given: at its start, and with a prompt, a file or an error."""
