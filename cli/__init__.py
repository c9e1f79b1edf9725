"""The terminal face. It speaks to the daemon through ``subconscious.client`` and never opens the database."""
