"""Replays real histories of sessions through the daemon's own code and scores the given memories."""
