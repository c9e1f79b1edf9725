-- Findings of a model that wait for a second look. `decision` and `reservation` are the gate's result; `before` is the
-- text before the finding, which is deleted after the look.
CREATE TABLE second_looks (
    capture_id  INTEGER PRIMARY KEY REFERENCES implicit_captures (id) ON DELETE CASCADE,
    session_id  TEXT NOT NULL,
    decision    TEXT NOT NULL,
    reservation TEXT,
    before      TEXT NOT NULL DEFAULT '',
    looked_at   REAL,
    verdict     TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX second_looks_waiting ON second_looks (session_id) WHERE looked_at IS NULL;

-- The request of a session's end about all of its findings: when it may be retried, and why it failed.
CREATE TABLE session_looks (
    session_id TEXT PRIMARY KEY,
    attempts   INTEGER NOT NULL DEFAULT 0,
    retry_at   REAL NOT NULL DEFAULT 0,
    reason     TEXT NOT NULL DEFAULT ''
) STRICT;
