"""Import of past sessions and of notes, and the choice of a model."""
