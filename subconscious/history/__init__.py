"""The history of changes, undo, and rollback of a session."""
