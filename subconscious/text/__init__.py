"""Analysis of texts by their words alone: no store, no model and no settings."""
