"""Analyses texts by their words alone, without the database, a language model or settings."""
