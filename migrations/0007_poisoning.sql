-- What the poisoning check said of each capture, and with which rules. One in quarantine has the status 'discarded' and
-- quarantined = 1: nothing that was written before this column existed takes it for one that waits or is stored.
ALTER TABLE implicit_captures ADD COLUMN level TEXT NOT NULL DEFAULT 'none'
    CHECK (level IN ('none', 'low', 'medium', 'high', 'critical'));
ALTER TABLE implicit_captures ADD COLUMN verdict TEXT NOT NULL DEFAULT '[]'; -- findings, JSON
ALTER TABLE implicit_captures ADD COLUMN rules TEXT NOT NULL DEFAULT '';     -- '' was never checked
ALTER TABLE implicit_captures ADD COLUMN quarantined INTEGER NOT NULL DEFAULT 0;
ALTER TABLE implicit_captures ADD COLUMN released_at REAL;                   -- a person let it go
ALTER TABLE implicit_captures ADD COLUMN seconded_with INTEGER NOT NULL DEFAULT 0; -- prompt of a model's opinion; 0: none
CREATE INDEX implicit_captures_quarantined ON implicit_captures (project_id, id) WHERE quarantined;
CREATE INDEX implicit_captures_memory ON implicit_captures (memory_id) WHERE memory_id IS NOT NULL;

-- With which rules each memory was looked at last.
CREATE TABLE memory_checks (
    memory_id     INTEGER PRIMARY KEY REFERENCES memories (id),
    rules         TEXT NOT NULL,
    level         TEXT NOT NULL,
    seconded_with INTEGER NOT NULL DEFAULT 0,
    checked_at    REAL NOT NULL
) STRICT;

-- What a person's refusals taught: hashes of the words that stood together, never the words.
CREATE TABLE poison_lessons (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    capture_id INTEGER NOT NULL REFERENCES implicit_captures (id),
    prints     TEXT NOT NULL, -- JSON array of integers
    threat     TEXT NOT NULL,
    created_at REAL NOT NULL,
    removed_at REAL
) STRICT;
