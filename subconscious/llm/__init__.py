"""Sends requests to language models for other packages: providers, limits, retries, caps, records.

Code that needs a model receives an ``Ask`` function; only the daemon opens an ``LLMClient``.
"""
