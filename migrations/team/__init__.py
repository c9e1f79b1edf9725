"""Numbered SQL files for a team's store; ``subconscious.store.team.migrate`` applies them."""
