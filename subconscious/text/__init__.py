"""What texts say, by their words alone: no store, no model and no setting."""
