"""Numbered SQL files, additive, immutable once released; ``subconscious.store.migrate`` applies them."""
