"""Extraction of candidates with a language model: requests, replies, and the checks on both."""
