"""Sends requests of other packages to language models, with rate limits, retries, spending caps and records of calls.

Code that needs a model receives an ``Ask`` function; only the daemon opens an ``LLMClient``.
"""
