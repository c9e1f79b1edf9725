"""Links between memories: finding, reviewing, making and following them.

A link is found where the words of a memory state a relation. For other pairs of memories, a small linear model
estimates whether they are linked, and by which type.
"""
