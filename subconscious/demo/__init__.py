"""A recorded session for the demo: `session.jsonl` is its transcript, `payloads.jsonl` the input of its hooks.

Recorded by scripts/record-demo with the real client in /home/dev; `cli/demo.py` replaces this folder in the text.
"""
