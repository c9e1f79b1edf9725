"""Which memories a session is given: at its start, with a prompt, a file or an error."""
