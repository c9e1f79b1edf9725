"""What stands between those who need a model and the providers: limits, retries, caps, records (SPEC A2, A21).

Rooms that need a model are given an ``Ask``; only the daemon opens an ``LLMClient``.
"""
