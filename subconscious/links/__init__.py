"""Links between memories: finding, reviewing, making and following them.

If the words of a memory state its relation to another memory, that relation becomes a link. For other pairs of
memories, a small linear model estimates whether they are linked, and by which type of link.
"""
