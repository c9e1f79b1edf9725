"""Failed tool calls and their ways out: the calls that then worked for the same purpose.

Error texts and outputs are matched against patterns, and never copied into a memory. A memory about a failure is a
fixed sentence with commands that were run and paths that were used.
"""
