"""The service between the rooms that need a model and the providers: limits, retries, caps, records.

Rooms that need a model are passed an ``Ask``; only the daemon opens an ``LLMClient``.
"""
