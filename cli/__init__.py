"""The terminal face. It speaks to the daemon through ``subconscious.wire`` and never opens the database."""
