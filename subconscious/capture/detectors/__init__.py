"""Detectors: each finds one kind of statement in a session's turns."""
