"""What a new statement does to an older one: replaces it, ends it, repeats it, or nothing."""
