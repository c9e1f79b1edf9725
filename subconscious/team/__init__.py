"""A team's store: a PostgreSQL database with which the daemon exchanges shared memories of a team."""
