"""Values that all features share: memories, kinds, link types, errors, trust."""
