"""Turns become candidates, and candidates are admitted, queued or refused."""
