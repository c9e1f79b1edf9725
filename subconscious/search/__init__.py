"""Finding memories: engines answer with ranked ids, fusion makes one list of them."""
