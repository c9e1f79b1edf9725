-- How far a model of language has read a transcript. A row is a span of one file that is, or was, to be read by it; it
-- grows with the file, and what stands before its beginning is not for the model: it was said without one, or nobody
-- asked for it to be read.
CREATE TABLE model_readings (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    path       TEXT NOT NULL,
    session_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    begin      INTEGER NOT NULL,           -- where the span begins
    until      INTEGER NOT NULL,           -- where it ends by now
    anchor     INTEGER NOT NULL,           -- where the next reading starts, some turns before the first unread one
    state      TEXT NOT NULL,              -- the transcript reader's own state there
    seen       INTEGER NOT NULL DEFAULT 0, -- turns from the anchor on that the model has read
    tokens     INTEGER NOT NULL DEFAULT 0, -- gathered and not read yet
    due        INTEGER NOT NULL DEFAULT 0, -- to be read without waiting for more
    imported   INTEGER NOT NULL DEFAULT 0, -- read by an import, which a person asked for
    retry_at   REAL NOT NULL DEFAULT 0,
    attempts   INTEGER NOT NULL DEFAULT 0,
    reason     TEXT NOT NULL DEFAULT '',   -- why it waits, or what was given up
    read_at    REAL,                       -- when the model was last given something of it
    UNIQUE (path, begin)
) STRICT;
CREATE INDEX model_readings_due ON model_readings (retry_at) WHERE due;
CREATE INDEX model_readings_session ON model_readings (session_id);
