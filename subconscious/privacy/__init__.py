"""Redaction of texts that are already stored, and purges."""
