"""Failures of tools and their way out, learned from the structure of tool calls: what failed, and what then worked.

Texts of errors and outputs are only matched. What is told is worded here, around commands and paths that really ran.
"""
