-- Input of the decay formulas that is stored nowhere else. A memory without a row has the defaults.
CREATE TABLE memory_decay (
    memory_id  INTEGER PRIMARY KEY REFERENCES memories (id),
    importance TEXT NOT NULL DEFAULT 'normal' CHECK (importance IN
        ('constitutional', 'critical', 'important', 'normal', 'temporary', 'deprecated')),
    touched_at REAL NOT NULL DEFAULT 0, -- when a session last worked on its files or topics
    reset_at   REAL NOT NULL DEFAULT 0  -- when a person last reset its decay
) STRICT;

-- Corrections by a person, with the memory that replaces the corrected one; NULL: none does.
CREATE TABLE memory_corrections (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id      INTEGER NOT NULL REFERENCES memories (id),
    replacement_id INTEGER REFERENCES memories (id),
    way            TEXT NOT NULL CHECK (way IN ('superseded', 'deprecated', 'refined', 'merged')),
    reason         TEXT NOT NULL DEFAULT '',
    created_at     REAL NOT NULL
) STRICT;
CREATE INDEX memory_corrections_memory ON memory_corrections (memory_id);
CREATE INDEX memory_corrections_replacement ON memory_corrections (replacement_id) WHERE replacement_id IS NOT NULL;

-- Results of memories in use: append-only, so that data computed from it can be reverted.
CREATE TABLE feedback (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id     INTEGER NOT NULL REFERENCES memories (id),
    outcome       TEXT NOT NULL, -- accepted, modified, rejected; others do not affect confidence
    actor         TEXT NOT NULL,
    session_id    TEXT,
    correction_id INTEGER REFERENCES memory_corrections (id),
    reason        TEXT NOT NULL DEFAULT '',
    created_at    REAL NOT NULL
) STRICT;
CREATE INDEX feedback_memory ON feedback (memory_id, outcome);
