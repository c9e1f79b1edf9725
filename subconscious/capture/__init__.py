"""Turns become candidates; candidates are stored, queued or refused."""
