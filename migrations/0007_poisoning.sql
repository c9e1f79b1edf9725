-- The poisoning check's result for each capture, and the version of its rules. A capture in quarantine has the status
-- 'discarded' and quarantined = 1: code from before this column does not treat it as waiting or stored.
ALTER TABLE implicit_captures ADD COLUMN level TEXT NOT NULL DEFAULT 'none'
    CHECK (level IN ('none', 'low', 'medium', 'high', 'critical'));
ALTER TABLE implicit_captures ADD COLUMN verdict TEXT NOT NULL DEFAULT '[]'; -- findings, JSON
ALTER TABLE implicit_captures ADD COLUMN rules TEXT NOT NULL DEFAULT '';     -- '' if never checked
ALTER TABLE implicit_captures ADD COLUMN quarantined INTEGER NOT NULL DEFAULT 0;
ALTER TABLE implicit_captures ADD COLUMN released_at REAL;                   -- when a person released it
ALTER TABLE implicit_captures ADD COLUMN seconded_with INTEGER NOT NULL DEFAULT 0; -- prompt version of a model's opinion; 0: none
CREATE INDEX implicit_captures_quarantined ON implicit_captures (project_id, id) WHERE quarantined;
CREATE INDEX implicit_captures_memory ON implicit_captures (memory_id) WHERE memory_id IS NOT NULL;

-- The version of the rules with which each memory was last checked.
CREATE TABLE memory_checks (
    memory_id     INTEGER PRIMARY KEY REFERENCES memories (id),
    rules         TEXT NOT NULL,
    level         TEXT NOT NULL,
    seconded_with INTEGER NOT NULL DEFAULT 0,
    checked_at    REAL NOT NULL
) STRICT;

-- Lessons from captures that a person rejected: hashes of adjacent words, never the words.
CREATE TABLE poison_lessons (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    capture_id INTEGER NOT NULL REFERENCES implicit_captures (id),
    prints     TEXT NOT NULL, -- JSON array of integers
    threat     TEXT NOT NULL,
    created_at REAL NOT NULL,
    removed_at REAL
) STRICT;
