"""Memories that several people share through Git."""
