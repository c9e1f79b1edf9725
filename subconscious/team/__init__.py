"""A team's store: a PostgreSQL database through which the daemons of a team exchange shared memories."""
