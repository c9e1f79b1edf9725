"""The review queue: captures that wait for a person, and decisions on them."""
