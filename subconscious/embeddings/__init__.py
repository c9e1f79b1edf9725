"""Embeddings of texts, in the background and for queries."""
