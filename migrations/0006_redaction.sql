-- What was taken out of texts, without itself: a salted hash tells one finding from another.
CREATE TABLE IF NOT EXISTS redactions (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    at       REAL NOT NULL,
    place    TEXT NOT NULL DEFAULT '', -- session/ID, memory/ID, ...; '' where nobody said
    rule     TEXT NOT NULL,
    sort     TEXT NOT NULL,
    strategy TEXT NOT NULL,
    hash     TEXT NOT NULL,
    length   INTEGER NOT NULL,
    times    INTEGER NOT NULL DEFAULT 1,
    UNIQUE (place, rule, hash)
) STRICT;

-- Findings that a person lets pass.
CREATE TABLE IF NOT EXISTS redactions_allowed (
    hash   TEXT PRIMARY KEY,
    at     REAL NOT NULL,
    reason TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;

-- Under which rules what is stored was looked through, and how far that has come (JSON).
CREATE TABLE IF NOT EXISTS redaction_state (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Captures that were purged, by their key alone: the same line, read again, brings nothing.
CREATE TABLE IF NOT EXISTS purged_captures (
    capture_key TEXT PRIMARY KEY,
    at          REAL NOT NULL
) STRICT, WITHOUT ROWID;
