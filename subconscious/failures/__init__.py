"""Failed tool calls and their ways out, learned from the structure of the calls: what failed, and what then worked.

Error texts and outputs are only matched. The wording of memories is ours, around commands and paths that really ran.
"""
