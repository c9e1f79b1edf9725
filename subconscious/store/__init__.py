"""All SQL: no other package runs statements on the database."""
