"""Numbered SQL files, additive, never changed after a release; ``subconscious.store.migrate`` applies them."""
