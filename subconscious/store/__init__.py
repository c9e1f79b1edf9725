"""All SQL: the only room that runs statements on the database."""
