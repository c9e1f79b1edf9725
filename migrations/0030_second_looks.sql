-- What a model found and another reading is still to vouch for. `decision` and `reservation` are what the gate said of
-- it; `before` is what was said around it, which goes when it has been looked at.
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

-- The one question that a session's end asks about all of these: when it may be asked again, and why it was not answered.
CREATE TABLE session_looks (
    session_id TEXT PRIMARY KEY,
    attempts   INTEGER NOT NULL DEFAULT 0,
    retry_at   REAL NOT NULL DEFAULT 0,
    reason     TEXT NOT NULL DEFAULT ''
) STRICT;
