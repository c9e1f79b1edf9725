-- The initial schema. Times are seconds since the epoch (UTC); lists are JSON arrays.

CREATE TABLE projects (
    id           TEXT PRIMARY KEY,
    name         TEXT NOT NULL,
    root         TEXT NOT NULL,
    remote       TEXT NOT NULL DEFAULT '',
    first_commit TEXT NOT NULL DEFAULT '',
    created_at   REAL NOT NULL
) STRICT;
CREATE INDEX projects_first_commit ON projects (first_commit);

-- All folders of a project: its repository, worktrees, and folders it was moved from.
CREATE TABLE project_paths (
    path       TEXT PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id)
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
    id            TEXT PRIMARY KEY,
    project_id    TEXT NOT NULL REFERENCES projects (id),
    transcript    TEXT NOT NULL DEFAULT '',
    cwd           TEXT NOT NULL DEFAULT '',
    status        TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'ended', 'interrupted')),
    started_at    REAL NOT NULL,
    last_event_at REAL NOT NULL,
    ended_at      REAL,
    end_reason    TEXT NOT NULL DEFAULT '',
    branch        TEXT NOT NULL DEFAULT '',
    first_prompt  TEXT NOT NULL DEFAULT '',
    last_prompt   TEXT NOT NULL DEFAULT '',
    turns         INTEGER NOT NULL DEFAULT 0,
    options       TEXT NOT NULL DEFAULT '{}', -- the plugin's options at its start
    greeted_at    REAL -- when it got its start context; NULL: not yet, or it was not delivered
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_project ON sessions (project_id, last_event_at);
CREATE INDEX sessions_status ON sessions (status, last_event_at);

-- How far each transcript file has been read; `state` is the reader's JSON.
CREATE TABLE transcripts (
    path       TEXT PRIMARY KEY,
    session_id TEXT NOT NULL,
    position   INTEGER NOT NULL DEFAULT 0,
    state      TEXT NOT NULL DEFAULT '{}',
    read_at    REAL NOT NULL
) STRICT, WITHOUT ROWID;

-- The prompts of open sessions, as sent by the hook and as read. A prompt that was sent and never read is missing in
-- the transcript, because the client was killed. Either may come first.
CREATE TABLE prompts (
    session_id TEXT NOT NULL,
    prompt_id  TEXT NOT NULL,
    written    INTEGER NOT NULL DEFAULT 0, -- whether it is in the transcript
    text       TEXT NOT NULL DEFAULT '',   -- without private spans and secrets; '' once it is written
    at         REAL NOT NULL DEFAULT 0,
    branch     TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (session_id, prompt_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE memories (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    project_id       TEXT REFERENCES projects (id), -- NULL: user-wide
    scope            TEXT NOT NULL CHECK (scope IN ('project', 'user')),
    kind             TEXT NOT NULL,
    category         TEXT NOT NULL,
    summary          TEXT NOT NULL,
    content          TEXT NOT NULL,
    origin           TEXT NOT NULL CHECK (origin IN ('user', 'assistant', 'tool')),
    confidence       REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    raw_confidence   REAL NOT NULL CHECK (raw_confidence BETWEEN 0 AND 1),
    extractor        TEXT NOT NULL,
    created_at       REAL NOT NULL,
    said_at          REAL NOT NULL,
    content_hash     TEXT NOT NULL,
    rationale        TEXT NOT NULL DEFAULT '',
    sentiment        TEXT NOT NULL DEFAULT 'neutral',
    verified         INTEGER NOT NULL DEFAULT 0,
    pinned           INTEGER NOT NULL DEFAULT 0,
    recurrence       INTEGER NOT NULL DEFAULT 1,
    uses             INTEGER NOT NULL DEFAULT 0,
    last_used_at     REAL,
    archived_at      REAL,
    agent            TEXT NOT NULL DEFAULT '',
    session_id       TEXT,
    turn_id          TEXT NOT NULL DEFAULT '',
    transcript       TEXT NOT NULL DEFAULT '',
    evidence         TEXT NOT NULL DEFAULT '',
    byte_start       INTEGER NOT NULL DEFAULT 0,
    byte_end         INTEGER NOT NULL DEFAULT 0,
    branch           TEXT NOT NULL DEFAULT '',
    "commit"         TEXT NOT NULL DEFAULT '',
    intent           TEXT NOT NULL DEFAULT '',
    embedding_status TEXT NOT NULL DEFAULT 'pending'
        CHECK (embedding_status IN ('pending', 'done', 'failed', 'off')),
    tags             TEXT NOT NULL DEFAULT '[]',
    files            TEXT NOT NULL DEFAULT '[]',
    CHECK ((scope = 'user') = (project_id IS NULL))
) STRICT;
CREATE INDEX memories_project ON memories (project_id, archived_at, said_at);
CREATE INDEX memories_hash ON memories (content_hash);
CREATE INDEX memories_session ON memories (session_id);
CREATE INDEX memories_embedding ON memories (embedding_status) WHERE embedding_status <> 'done';

-- Full text of the active memories; rowid is the memory's id. `project` is a column because with a join the engine
-- would rank every project's matches first.
CREATE VIRTUAL TABLE memories_fts USING fts5 (
    project, summary, content, rationale, tags, files,
    tokenize = 'porter unicode61'
);

-- Vectors, float32 little-endian and of unit length. Indexes are derived from this table.
CREATE TABLE embeddings (
    memory_id INTEGER PRIMARY KEY REFERENCES memories (id),
    project   TEXT NOT NULL, -- '' for user-wide memories
    model     TEXT NOT NULL,
    dim       INTEGER NOT NULL,
    vector    BLOB NOT NULL,
    active    INTEGER NOT NULL DEFAULT 1,
    stamp     INTEGER NOT NULL -- rises with every write, so that an index can find rows that it missed
) STRICT;
CREATE INDEX embeddings_project ON embeddings (project, active);
CREATE INDEX embeddings_stamp ON embeddings (stamp);

-- Candidates, including the review queue.
CREATE TABLE implicit_captures (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    capture_key    TEXT NOT NULL UNIQUE, -- statement and position: a line read twice gives one capture
    project_id     TEXT NOT NULL REFERENCES projects (id),
    session_id     TEXT,
    status         TEXT NOT NULL CHECK (status IN
        ('captured', 'review', 'discarded', 'approved', 'rejected', 'expired')),
    decision       TEXT NOT NULL CHECK (decision IN ('auto', 'review', 'discard')),
    reason         TEXT NOT NULL DEFAULT '',
    memory_id      INTEGER REFERENCES memories (id),
    scope          TEXT NOT NULL,
    kind           TEXT NOT NULL,
    summary        TEXT NOT NULL,
    content        TEXT NOT NULL,
    content_hash   TEXT NOT NULL,
    evidence       TEXT NOT NULL,
    turn_id        TEXT NOT NULL,
    transcript     TEXT NOT NULL,
    byte_start     INTEGER NOT NULL,
    byte_end       INTEGER NOT NULL,
    origin         TEXT NOT NULL,
    strength       TEXT NOT NULL,
    raw_confidence REAL NOT NULL,
    confidence     REAL NOT NULL,
    extractor      TEXT NOT NULL,
    rationale      TEXT NOT NULL DEFAULT '',
    sentiment      TEXT NOT NULL DEFAULT 'neutral',
    branch         TEXT NOT NULL DEFAULT '',
    tags           TEXT NOT NULL DEFAULT '[]',
    files          TEXT NOT NULL DEFAULT '[]',
    said_at        REAL NOT NULL,
    created_at     REAL NOT NULL,
    expires_at     REAL,
    decided_at     REAL
) STRICT;
CREATE INDEX implicit_captures_status ON implicit_captures (status, project_id, created_at);
CREATE INDEX implicit_captures_session ON implicit_captures (session_id);

-- Every change, append-only: history and undo read it.
CREATE TABLE events (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    at         REAL NOT NULL,
    actor      TEXT NOT NULL,
    action     TEXT NOT NULL,
    subject    TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    session_id TEXT,
    reason     TEXT NOT NULL DEFAULT '',
    before     TEXT,
    after      TEXT
) STRICT;
CREATE INDEX events_subject ON events (subject, subject_id);

CREATE TABLE jobs (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    name         TEXT NOT NULL UNIQUE, -- the spool entry's name: an entry swept twice gives one job
    event        TEXT NOT NULL,
    lane         TEXT NOT NULL,        -- jobs of one lane (a session) never run at the same time
    state        TEXT NOT NULL DEFAULT 'ready' CHECK (state IN ('ready', 'leased', 'done', 'buried')),
    attempts     INTEGER NOT NULL DEFAULT 0,
    run_after    REAL NOT NULL DEFAULT 0,
    leased_until REAL,
    reason       TEXT NOT NULL DEFAULT '',
    created_at   REAL NOT NULL,
    finished_at  REAL
) STRICT;
CREATE INDEX jobs_ready ON jobs (id) WHERE state = 'ready';
CREATE INDEX jobs_lane ON jobs (lane) WHERE state = 'leased';
CREATE INDEX jobs_finished ON jobs (finished_at) WHERE state = 'done';

-- Which memories were given to which session and why; rows with ledger = 1 are in that session's context now.
CREATE TABLE surfaces (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id   TEXT NOT NULL,
    project_id   TEXT NOT NULL,
    event        TEXT NOT NULL,
    at           REAL NOT NULL,
    memory_id    INTEGER NOT NULL REFERENCES memories (id),
    content_hash TEXT NOT NULL,
    position     INTEGER NOT NULL,
    reason       TEXT NOT NULL,
    relevance    REAL NOT NULL,
    decay        REAL NOT NULL,
    engines      TEXT NOT NULL DEFAULT '[]',
    ledger       INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE INDEX surfaces_session ON surfaces (session_id, ledger);
CREATE INDEX surfaces_memory ON surfaces (memory_id, at);
