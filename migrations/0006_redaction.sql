-- Findings that were removed from texts, without the texts: a salted hash identifies each.
CREATE TABLE IF NOT EXISTS redactions (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    at       REAL NOT NULL,
    place    TEXT NOT NULL DEFAULT '', -- session/ID, memory/ID, ...; '' if unknown
    rule     TEXT NOT NULL,
    sort     TEXT NOT NULL,
    strategy TEXT NOT NULL,
    hash     TEXT NOT NULL,
    length   INTEGER NOT NULL,
    times    INTEGER NOT NULL DEFAULT 1,
    UNIQUE (place, rule, hash)
) STRICT;

-- Findings that a person allowed.
CREATE TABLE IF NOT EXISTS redactions_allowed (
    hash   TEXT PRIMARY KEY,
    at     REAL NOT NULL,
    reason TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;

-- The version of the rules with which stored texts were scanned, and the progress of a scan (JSON).
CREATE TABLE IF NOT EXISTS redaction_state (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Keys of purged captures: the same line, read again, gives no capture.
CREATE TABLE IF NOT EXISTS purged_captures (
    capture_key TEXT PRIMARY KEY,
    at          REAL NOT NULL
) STRICT, WITHOUT ROWID;
