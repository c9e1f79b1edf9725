"""Subconscious: a memory for Claude Code. This package is the library; it runs no process of its own."""

__version__ = "0.2.0"
