-- Failed tool calls, and what worked afterwards. Times are seconds since the epoch (UTC). Error texts are not stored.

CREATE TABLE failures (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id      TEXT NOT NULL,             -- transcript line and call of the error: read again, it gives the same row
    project_id  TEXT NOT NULL REFERENCES projects (id),
    session_id  TEXT NOT NULL,
    at          REAL NOT NULL,
    branch      TEXT NOT NULL DEFAULT '',
    transcript  TEXT NOT NULL DEFAULT '',
    byte_start  INTEGER NOT NULL DEFAULT 0,
    byte_end    INTEGER NOT NULL DEFAULT 0,
    command_key TEXT NOT NULL,             -- hash of the normalised command or input
    signatures  TEXT NOT NULL,             -- hashes of the stable words of the error's lines, a JSON array
    sort        TEXT NOT NULL DEFAULT '',  -- how the way out differs; '' if nothing worked
    failed      TEXT NOT NULL DEFAULT '',  -- parts of its sentence: normalised commands, paths, names
    way_out     TEXT NOT NULL DEFAULT '',
    dropped     TEXT NOT NULL DEFAULT '',
    way_out_key TEXT NOT NULL DEFAULT '',
    trouble     TEXT NOT NULL DEFAULT '',  -- equal for the same trouble with the same way out
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
