"""The history of changes, undo, and rolling back a session."""
