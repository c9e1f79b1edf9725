"""Replays real histories of sessions through the daemon's own code and scores what the sessions were given."""
