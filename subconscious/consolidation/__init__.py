"""Consolidation: summarizes groups of memories that overlap.

`clusters` finds the groups. `gate` decides which memories may be in one group, and whether a person must approve a
summary. `summary_text` composes a summary without a model, `synthesis` has a model write it.
"""
