"""The page of `subconscious ui`: a local web page to view memories and decide on captures."""
