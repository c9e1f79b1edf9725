"""Extraction with a language model: requests, answers, and the checks on both."""
