"""Search: engines return ranked memory ids, fusion merges the rankings into one, selection chooses the hits to show."""
