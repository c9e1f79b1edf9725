"""Memories as files: exports as Markdown notes or JSON, and imports of exports and of other tools' files."""
