-- How far a language model has read a transcript. A row is a span of one file that the model has read or is to read; it
-- grows with the file. The part before its beginning is not for the model: it was written without a model, or its
-- reading was never requested.
CREATE TABLE model_readings (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    path       TEXT NOT NULL,
    session_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    begin      INTEGER NOT NULL,           -- where the span begins
    until      INTEGER NOT NULL,           -- its current end
    anchor     INTEGER NOT NULL,           -- where the next reading starts, some turns before the first unread one
    state      TEXT NOT NULL,              -- the transcript reader's state there
    seen       INTEGER NOT NULL DEFAULT 0, -- turns from the anchor on that the model has read
    tokens     INTEGER NOT NULL DEFAULT 0, -- not read yet
    due        INTEGER NOT NULL DEFAULT 0, -- to be read now
    imported   INTEGER NOT NULL DEFAULT 0, -- read by an import, which a person requested
    retry_at   REAL NOT NULL DEFAULT 0,
    attempts   INTEGER NOT NULL DEFAULT 0,
    reason     TEXT NOT NULL DEFAULT '',   -- why it waits or was closed
    read_at    REAL,                       -- when the model last read some of it
    UNIQUE (path, begin)
) STRICT;
CREATE INDEX model_readings_due ON model_readings (retry_at) WHERE due;
CREATE INDEX model_readings_session ON model_readings (session_id);
