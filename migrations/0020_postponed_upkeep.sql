-- Upkeep that would archive or expire unusually much at once: it waits until sessions have confirmed the clock.
CREATE TABLE IF NOT EXISTS postponed_upkeep (
    name     TEXT PRIMARY KEY,  -- 'decay' or 'review'
    since    REAL NOT NULL,     -- sessions that begin later confirm the clock
    affected INTEGER NOT NULL,
    total    INTEGER NOT NULL,
    waits    INTEGER NOT NULL,  -- 0: it ran, and as much is left to do
    allowed  INTEGER NOT NULL DEFAULT 0  -- a person permitted it
) STRICT;
