"""A recorded session to try everything on: `session.jsonl` is its transcript, `payloads.jsonl` what its hooks got.

Made by scripts/record-demo with the real client; it lies as if in /home/dev, which whoever plays it must replace.
"""
