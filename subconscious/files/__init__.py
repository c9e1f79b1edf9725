"""Memories as files: notes of an Obsidian vault, or JSON, written and read back without loss."""
