"""Failed tool calls and their ways out, learned from the structure of the calls: what failed, and what then worked.

Error texts and outputs are only matched. A memory about a failure is a fixed sentence with commands and paths that
really ran.
"""
