"""Shares memories between people through Git."""
