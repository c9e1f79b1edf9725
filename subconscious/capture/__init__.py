"""Capture: finds statements worth remembering (candidates) in a session's turns, and stores, queues or rejects them.

A turn is one message of a transcript. A stored candidate is a capture. A capture becomes a memory at once, waits for
review, is quarantined (possibly poisoned), or is discarded. In these modules, "a model" usually means the language
model, if one is configured; "rules" means the detectors, which need none.
"""
