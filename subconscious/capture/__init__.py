"""Capture: finds statements to remember in the turns of a session (candidates), and stores, queues or rejects them.

A turn is one message of a transcript. A stored candidate is a capture. A capture becomes a memory at once, waits for
review, is quarantined (possibly poisoned), or is discarded. The model in these modules is a language model, if one is
configured; "rules" are the detectors that need none.
"""
