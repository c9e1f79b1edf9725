"""Memories: storing, correcting, merging and purging them."""
