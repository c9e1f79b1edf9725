-- Calls of models, recorded before they are made: a row still 'asked' belongs to a process that died. `cost` is NULL if
-- it is unknown; then `reserved` counts against the caps.
CREATE TABLE llm_calls (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    at            REAL NOT NULL,
    provider      TEXT NOT NULL,
    model         TEXT NOT NULL,
    purpose       TEXT NOT NULL,
    session_id    TEXT NOT NULL DEFAULT '',
    project_id    TEXT NOT NULL DEFAULT '',
    input_tokens  INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    cached_tokens INTEGER NOT NULL DEFAULT 0,
    cost          REAL,
    reserved      REAL NOT NULL,
    batch         INTEGER NOT NULL DEFAULT 0,
    request_id    INTEGER,                        -- id in llm_requests, for requests in a batch
    outcome       TEXT NOT NULL DEFAULT 'asked',  -- answered, lost, or the code of an error
    duration      REAL
) STRICT;
CREATE INDEX llm_calls_at ON llm_calls (at);
CREATE INDEX llm_calls_session ON llm_calls (session_id) WHERE session_id <> '';
CREATE INDEX llm_calls_request ON llm_calls (request_id) WHERE request_id IS NOT NULL;

-- Batches at a provider. A row without a name was written before the provider accepted the batch.
CREATE TABLE llm_batches (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    provider    TEXT NOT NULL,
    model       TEXT NOT NULL,
    name        TEXT,
    state       TEXT NOT NULL DEFAULT 'intended' CHECK (state IN ('intended', 'running', 'ended', 'lost')),
    polls       INTEGER NOT NULL DEFAULT 0,
    poll_after  REAL NOT NULL DEFAULT 0,
    created_at  REAL NOT NULL,
    finished_at REAL,
    reason      TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX llm_batches_open ON llm_batches (id) WHERE state IN ('intended', 'running');

-- Requests that can wait. Their texts are deleted when they are answered; the key stays, so that none is sent twice.
CREATE TABLE llm_requests (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    purpose     TEXT NOT NULL,
    key         TEXT NOT NULL,
    system      TEXT NOT NULL,
    text        TEXT NOT NULL,
    max_tokens  INTEGER NOT NULL,
    payload     TEXT NOT NULL DEFAULT '{}',
    session_id  TEXT NOT NULL DEFAULT '',
    project_id  TEXT NOT NULL DEFAULT '',
    state       TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'sent', 'done', 'buried')),
    batch_id    INTEGER REFERENCES llm_batches (id),
    attempts    INTEGER NOT NULL DEFAULT 0,
    alone       INTEGER NOT NULL DEFAULT 0,       -- failed within a batch: sent separately from now on
    run_after   REAL NOT NULL DEFAULT 0,
    reason      TEXT NOT NULL DEFAULT '',
    created_at  REAL NOT NULL,
    finished_at REAL,
    UNIQUE (purpose, key)
) STRICT;
CREATE INDEX llm_requests_waiting ON llm_requests (id) WHERE state = 'waiting';
CREATE INDEX llm_requests_batch ON llm_requests (batch_id) WHERE state = 'sent';
