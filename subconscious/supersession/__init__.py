"""What a new statement does to an older one: it replaces it, ends it, repeats it, or does nothing."""
