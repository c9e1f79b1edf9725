-- Data of surfacing. Times are seconds since the epoch (UTC).

-- When a memory matters by its own words: a date, or an event that has to happen first.
CREATE TABLE memory_triggers (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id INTEGER NOT NULL REFERENCES memories (id),
    sort      TEXT NOT NULL CHECK (sort IN ('date', 'milestone')),
    due_at    REAL,                  -- for a date
    words     TEXT NOT NULL,         -- the words that state it
    made_at   REAL NOT NULL
) STRICT;
CREATE INDEX memory_triggers_memory ON memory_triggers (memory_id);
CREATE INDEX memory_triggers_due ON memory_triggers (due_at) WHERE due_at IS NOT NULL;

-- Which wording of each memory was searched for these, with which rules; one without a row is searched next.
CREATE TABLE trigger_searches (
    memory_id    INTEGER PRIMARY KEY REFERENCES memories (id),
    content_hash TEXT NOT NULL,
    version      INTEGER NOT NULL,
    searched_at  REAL NOT NULL
) STRICT;

-- Digest of a file that a memory is bound to, at the end of its session; '' if the file did not exist.
CREATE TABLE memory_files (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id INTEGER NOT NULL REFERENCES memories (id),
    file      TEXT NOT NULL,
    digest    TEXT NOT NULL,
    seen_at   REAL NOT NULL,
    UNIQUE (memory_id, file)
) STRICT;

-- The reason of each surface, its memory's priority at that time, and the limits that applied.
ALTER TABLE surfaces ADD COLUMN about TEXT NOT NULL DEFAULT '';
ALTER TABLE surfaces ADD COLUMN priority REAL NOT NULL DEFAULT 0;
ALTER TABLE surfaces ADD COLUMN limits TEXT NOT NULL DEFAULT '{}';
ALTER TABLE surfaces ADD COLUMN trigger_id INTEGER REFERENCES memory_triggers (id);
CREATE INDEX surfaces_trigger ON surfaces (trigger_id) WHERE trigger_id IS NOT NULL;

-- Whether an answer used a surface: each is judged once, and a memory's priority is computed from this.
CREATE TABLE surface_outcomes (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    surface_id INTEGER NOT NULL UNIQUE REFERENCES surfaces (id) ON DELETE CASCADE,
    memory_id  INTEGER NOT NULL REFERENCES memories (id),
    used       INTEGER NOT NULL CHECK (used IN (0, 1)),
    reason     TEXT NOT NULL DEFAULT '',
    at         REAL NOT NULL
) STRICT;
CREATE INDEX surface_outcomes_memory ON surface_outcomes (memory_id, id);
