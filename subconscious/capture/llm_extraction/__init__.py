"""Extraction with a language model: questions, answers, and the checks on both."""
