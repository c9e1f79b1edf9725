"""Links between memories: whether and how one bears on another, told from the two alone.

Pure: who the neighbours are is found by the caller. Words that state a relation come first; a small linear model says
of the others how likely they are linked at all, and as what.
"""
