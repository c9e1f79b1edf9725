"""Links between memories: finding, reviewing, making and following them.

Words that state a relation come first; for other pairs a small linear model estimates whether they are linked, and by
which type.
"""
