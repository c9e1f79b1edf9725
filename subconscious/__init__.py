"""Subconscious: the memory of Claude Code. The library; it runs no process of its own."""

__version__ = "0.2.0"
