"""The page of `subconscious ui`: a local web page to look at the memories and to decide on them."""
