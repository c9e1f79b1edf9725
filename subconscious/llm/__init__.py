"""What stands between those who need a model and the providers: limits, retries, caps, records.

Rooms that need a model are given an ``Ask``; only the daemon opens an ``LLMClient``.
"""
