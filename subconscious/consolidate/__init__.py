"""Consolidation: which memories say much of the same, and what they say together.

`clusters` finds them, `apart` says which may never be summed up as one, `telling` words them without a model,
`synthesis` with one, `gate` decides whether a person must look at it.
"""
