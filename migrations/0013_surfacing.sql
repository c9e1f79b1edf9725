-- What surfacing learns and knows (SPEC 6). Times are seconds since the epoch (UTC).

-- What a memory itself says about when it matters (D21a): a date, or something that has to happen first.
CREATE TABLE memory_triggers (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id INTEGER NOT NULL REFERENCES memories (id),
    sort      TEXT NOT NULL CHECK (sort IN ('date', 'milestone')),
    due_at    REAL,                  -- of a date
    words     TEXT NOT NULL,         -- the words that say so
    made_at   REAL NOT NULL
) STRICT;
CREATE INDEX memory_triggers_memory ON memory_triggers (memory_id);
CREATE INDEX memory_triggers_due ON memory_triggers (due_at) WHERE due_at IS NOT NULL;

-- Which wording of each memory was looked through for them, under which rules; one without a row waits for it.
CREATE TABLE trigger_searches (
    memory_id    INTEGER PRIMARY KEY REFERENCES memories (id),
    content_hash TEXT NOT NULL,
    version      INTEGER NOT NULL,
    searched_at  REAL NOT NULL
) STRICT;

-- How a file looked that a memory is bound to, when its session had ended (N8); '' for one that was not there.
CREATE TABLE memory_files (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id INTEGER NOT NULL REFERENCES memories (id),
    file      TEXT NOT NULL,
    digest    TEXT NOT NULL,
    seen_at   REAL NOT NULL,
    UNIQUE (memory_id, file)
) STRICT;

-- What each surface was given for, its memory's priority then, and the limits that were in force (N7).
ALTER TABLE surfaces ADD COLUMN about TEXT NOT NULL DEFAULT '';
ALTER TABLE surfaces ADD COLUMN priority REAL NOT NULL DEFAULT 0;
ALTER TABLE surfaces ADD COLUMN limits TEXT NOT NULL DEFAULT '{}';
ALTER TABLE surfaces ADD COLUMN trigger_id INTEGER REFERENCES memory_triggers (id);
CREATE INDEX surfaces_trigger ON surfaces (trigger_id) WHERE trigger_id IS NOT NULL;

-- Whether an answer used what was given (D14): each surface is judged once, and a memory's priority is computed from this.
CREATE TABLE surface_outcomes (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    surface_id INTEGER NOT NULL UNIQUE REFERENCES surfaces (id) ON DELETE CASCADE,
    memory_id  INTEGER NOT NULL REFERENCES memories (id),
    used       INTEGER NOT NULL CHECK (used IN (0, 1)),
    reason     TEXT NOT NULL DEFAULT '',
    at         REAL NOT NULL
) STRICT;
CREATE INDEX surface_outcomes_memory ON surface_outcomes (memory_id, id);
