"""A recorded session for the demo: `session.jsonl` is its transcript, `payloads.jsonl` the input of its hooks.

scripts/record-demo recorded it with Claude Code itself in /home/dev; `cli/demo.py` replaces that path in both files.
"""
