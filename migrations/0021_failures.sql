-- What failed in tool calls, and what then worked. Times are seconds since the epoch (UTC). Texts of errors are not kept.

CREATE TABLE failures (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id      TEXT NOT NULL,             -- the line and the call that brought the error: read again, it is the same row
    project_id  TEXT NOT NULL REFERENCES projects (id),
    session_id  TEXT NOT NULL,
    at          REAL NOT NULL,
    branch      TEXT NOT NULL DEFAULT '',
    transcript  TEXT NOT NULL DEFAULT '',
    byte_start  INTEGER NOT NULL DEFAULT 0,
    byte_end    INTEGER NOT NULL DEFAULT 0,
    command_key TEXT NOT NULL,             -- hash of the normalised command or input
    signatures  TEXT NOT NULL,             -- hashes of the stable words of the error's lines, a JSON array
    sort        TEXT NOT NULL DEFAULT '',  -- how the way out differs; '' where nothing worked
    failed      TEXT NOT NULL DEFAULT '',  -- what the sentence about it names: normalised commands, paths, names
    way_out     TEXT NOT NULL DEFAULT '',
    dropped     TEXT NOT NULL DEFAULT '',
    way_out_key TEXT NOT NULL DEFAULT '',
    trouble     TEXT NOT NULL DEFAULT '',  -- the same for the same trouble with the same way out
    doubt       TEXT NOT NULL DEFAULT '',  -- why a person must decide
    evidence    TEXT NOT NULL DEFAULT '',  -- the command that worked
    memory_id   INTEGER REFERENCES memories (id),
    withdrawn   INTEGER NOT NULL DEFAULT 0, -- its session was rolled back
    UNIQUE (project_id, run_id)
) STRICT;
CREATE INDEX failures_command ON failures (project_id, command_key);
CREATE INDEX failures_trouble ON failures (project_id, trouble) WHERE trouble <> '';
CREATE INDEX failures_session ON failures (session_id);
CREATE INDEX failures_memory ON failures (memory_id) WHERE memory_id IS NOT NULL;

-- When a command that had failed before last worked.
CREATE TABLE recovered_commands (
    project_id  TEXT NOT NULL REFERENCES projects (id),
    command_key TEXT NOT NULL,
    worked_at   REAL NOT NULL,
    PRIMARY KEY (project_id, command_key)
) STRICT, WITHOUT ROWID;
