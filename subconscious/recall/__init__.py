"""Search: engines return ranked ids, fusion merges them into one ranking, selection decides what is shown."""
