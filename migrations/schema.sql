-- The schema after all migrations, for reading. Written by `python -m tests.support.schema`.

CREATE VIRTUAL TABLE archived_fts USING fts5 (
    project, summary, content, rationale, tags, files,
    tokenize = 'porter unicode61'
);

CREATE TABLE claude_note_folders (
    project_id TEXT NOT NULL REFERENCES projects (id),
    path       TEXT NOT NULL,
    looked_at  REAL NOT NULL,
    PRIMARY KEY (project_id, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE claude_notes (
    project_id TEXT NOT NULL REFERENCES projects (id),
    path       TEXT NOT NULL,
    name       TEXT NOT NULL,
    stamp      TEXT NOT NULL,                    -- the file's times, size and inode, and the version of the rules
    digest     TEXT NOT NULL DEFAULT '',         -- of its text: a renamed file is the same note
    memory_id  INTEGER REFERENCES memories (id), -- NULL: not searchable; `problem` has the reason
    links      TEXT NOT NULL DEFAULT '[]',       -- names of other notes, JSON
    problem    TEXT NOT NULL DEFAULT '',
    read_at    REAL NOT NULL,
    PRIMARY KEY (project_id, path)
) STRICT, WITHOUT ROWID;

CREATE INDEX claude_notes_memory ON claude_notes (memory_id);

CREATE TABLE consolidations (
    capture_id   INTEGER NOT NULL REFERENCES implicit_captures (id),
    memory_id    INTEGER NOT NULL REFERENCES memories (id),
    content_hash TEXT NOT NULL,
    PRIMARY KEY (capture_id, memory_id)
) STRICT;

CREATE INDEX consolidations_memory ON consolidations (memory_id);

CREATE TABLE embedding_models (
    name      TEXT PRIMARY KEY,
    base      TEXT NOT NULL,
    dim       INTEGER NOT NULL,
    canary    BLOB,
    serving   INTEGER NOT NULL DEFAULT 0,
    wanted_at REAL NOT NULL DEFAULT 0 -- since when memories wait for this model's vectors
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX embedding_models_serving ON embedding_models (serving) WHERE serving;

CREATE TABLE "embeddings" (
    memory_id INTEGER NOT NULL REFERENCES memories (id),
    project   TEXT NOT NULL, -- '' for user-wide memories
    model     TEXT NOT NULL,
    dim       INTEGER NOT NULL,
    vector    BLOB NOT NULL,
    active    INTEGER NOT NULL DEFAULT 1,
    stamp     INTEGER NOT NULL, -- rises with every write, so that an index can find rows that it missed
    digest    TEXT NOT NULL DEFAULT '', -- of the embedded text: the same text is not paid for twice
    PRIMARY KEY (memory_id, model)
) STRICT;

CREATE INDEX embeddings_project ON embeddings (model, project, active);

CREATE INDEX embeddings_stamp ON embeddings (stamp);

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
, act TEXT NOT NULL DEFAULT '') STRICT;

CREATE INDEX events_act ON events (act) WHERE act <> '';

CREATE INDEX events_subject ON events (subject, subject_id);

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

CREATE INDEX failures_memory ON failures (memory_id) WHERE memory_id IS NOT NULL;

CREATE INDEX failures_session ON failures (session_id);

CREATE INDEX failures_trouble ON failures (project_id, trouble) WHERE trouble <> '';

CREATE TABLE feedback (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id     INTEGER NOT NULL REFERENCES memories (id),
    outcome       TEXT NOT NULL, -- accepted, modified, rejected; others do not affect confidence
    actor         TEXT NOT NULL,
    session_id    TEXT,
    correction_id INTEGER REFERENCES memory_corrections (id),
    reason        TEXT NOT NULL DEFAULT '',
    created_at    REAL NOT NULL
) STRICT;

CREATE INDEX feedback_memory ON feedback (memory_id, outcome);

CREATE TABLE handovers (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL,
    from_id    TEXT NOT NULL,
    event      TEXT NOT NULL,
    at         REAL NOT NULL,
    ledger     INTEGER NOT NULL DEFAULT 1
) STRICT;

CREATE INDEX handovers_session ON handovers (session_id, ledger);

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
, level TEXT NOT NULL DEFAULT 'none'
    CHECK (level IN ('none', 'low', 'medium', 'high', 'critical')), verdict TEXT NOT NULL DEFAULT '[]', rules TEXT NOT NULL DEFAULT '', quarantined INTEGER NOT NULL DEFAULT 0, released_at REAL, seconded_with INTEGER NOT NULL DEFAULT 0, reservation TEXT, shown_at REAL) STRICT;

CREATE INDEX implicit_captures_memory ON implicit_captures (memory_id) WHERE memory_id IS NOT NULL;

CREATE INDEX implicit_captures_quarantined ON implicit_captures (project_id, id) WHERE quarantined;

CREATE INDEX implicit_captures_session ON implicit_captures (session_id);

CREATE INDEX implicit_captures_shared ON implicit_captures (project_id, turn_id) WHERE extractor = 'shared-1';

CREATE INDEX implicit_captures_status ON implicit_captures (status, project_id, created_at);

CREATE INDEX implicit_captures_unweighed ON implicit_captures (session_id) WHERE status = 'review' AND reservation IS NULL;

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

CREATE INDEX jobs_finished ON jobs (finished_at) WHERE state = 'done';

CREATE INDEX jobs_lane ON jobs (lane) WHERE state = 'leased';

CREATE INDEX jobs_ready ON jobs (id) WHERE state = 'ready';

CREATE TABLE link_searches (
    memory_id   INTEGER PRIMARY KEY REFERENCES memories (id),
    version     TEXT NOT NULL,
    searched_at REAL NOT NULL
) STRICT;

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

CREATE INDEX llm_calls_request ON llm_calls (request_id) WHERE request_id IS NOT NULL;

CREATE INDEX llm_calls_session ON llm_calls (session_id) WHERE session_id <> '';

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

CREATE INDEX llm_requests_batch ON llm_requests (batch_id) WHERE state = 'sent';

CREATE INDEX llm_requests_waiting ON llm_requests (id) WHERE state = 'waiting';

CREATE TABLE maintenance_runs (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    job         TEXT NOT NULL,
    state       TEXT NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'done')),
    phase       TEXT NOT NULL,            -- the current one
    cursor      TEXT NOT NULL DEFAULT '', -- progress within the phase
    started_at  REAL NOT NULL,
    finished_at REAL,
    report      TEXT NOT NULL DEFAULT '{}'
) STRICT;

CREATE INDEX maintenance_runs_job ON maintenance_runs (job, started_at);

CREATE UNIQUE INDEX maintenance_runs_running ON maintenance_runs (job) WHERE state = 'running';

CREATE TABLE memories (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    project_id       TEXT REFERENCES projects (id), -- NULL: user-wide
    scope            TEXT NOT NULL CHECK (scope IN ('project', 'user')),
    kind             TEXT NOT NULL,
    category         TEXT NOT NULL,
    summary          TEXT NOT NULL,
    content          TEXT NOT NULL,
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
    files            TEXT NOT NULL DEFAULT '[]', unconfirmed INTEGER NOT NULL DEFAULT 0
    CHECK (unconfirmed = 0 OR archived_at IS NOT NULL), origin TEXT NOT NULL DEFAULT 'tool'
    CHECK (origin IN ('user', 'assistant', 'teammate', 'tool')),
    CHECK ((scope = 'user') = (project_id IS NULL))
) STRICT;

CREATE INDEX memories_core ON memories (project_id, pinned, said_at)
    WHERE archived_at IS NULL AND (pinned OR kind = 'lesson');

CREATE INDEX memories_embedding ON memories (embedding_status) WHERE embedding_status <> 'done';

CREATE INDEX memories_hash ON memories (content_hash);

CREATE INDEX memories_in_session ON memories (session_id, archived_at, said_at, project_id);

CREATE INDEX memories_leading ON memories (project_id, pinned DESC, recurrence DESC, said_at DESC, id DESC)
    WHERE archived_at IS NULL AND (pinned OR recurrence > 1 OR kind IN ('lesson', 'preference', 'pattern')
    OR extractor = 'observed-1');

CREATE INDEX memories_notes ON memories (project_id, archived_at) WHERE extractor = 'claude-note';

CREATE INDEX memories_project ON memories (project_id, archived_at, said_at);

CREATE INDEX memories_recent ON memories (archived_at, said_at);

CREATE INDEX memories_session ON memories (session_id);

CREATE INDEX memories_unconfirmed ON memories (project_id, id) WHERE unconfirmed;

CREATE VIRTUAL TABLE memories_fts USING fts5 (
    project, summary, content, rationale, tags, files,
    tokenize = 'porter unicode61'
);

CREATE TABLE memory_checks (
    memory_id     INTEGER PRIMARY KEY REFERENCES memories (id),
    rules         TEXT NOT NULL,
    level         TEXT NOT NULL,
    seconded_with INTEGER NOT NULL DEFAULT 0,
    checked_at    REAL NOT NULL
) STRICT;

CREATE TABLE memory_corrections (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id      INTEGER NOT NULL REFERENCES memories (id),
    replacement_id INTEGER REFERENCES memories (id),
    way            TEXT NOT NULL CHECK (way IN ('superseded', 'deprecated', 'refined', 'merged')),
    reason         TEXT NOT NULL DEFAULT '',
    created_at     REAL NOT NULL
) STRICT;

CREATE INDEX memory_corrections_memory ON memory_corrections (memory_id);

CREATE INDEX memory_corrections_replacement ON memory_corrections (replacement_id) WHERE replacement_id IS NOT NULL;

CREATE TABLE memory_decay (
    memory_id  INTEGER PRIMARY KEY REFERENCES memories (id),
    importance TEXT NOT NULL DEFAULT 'normal' CHECK (importance IN
        ('constitutional', 'critical', 'important', 'normal', 'temporary', 'deprecated')),
    touched_at REAL NOT NULL DEFAULT 0, -- when a session last worked on its files or topics
    reset_at   REAL NOT NULL DEFAULT 0  -- when a person last reset its decay
) STRICT;

CREATE TABLE memory_files (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id INTEGER NOT NULL REFERENCES memories (id),
    file      TEXT NOT NULL,
    digest    TEXT NOT NULL,
    seen_at   REAL NOT NULL,
    UNIQUE (memory_id, file)
) STRICT;

CREATE TABLE memory_links (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    source_id  INTEGER NOT NULL REFERENCES memories (id),
    target_id  INTEGER NOT NULL REFERENCES memories (id),
    type       TEXT NOT NULL,
    status     TEXT NOT NULL DEFAULT 'active' CHECK (status IN
        ('active', 'proposed', 'refused', 'withdrawn')), -- refused: rejected by a person, not proposed again
    confidence REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    created_by TEXT NOT NULL,            -- 'user', 'assistant', 'rules', a model's name, 'system'
    evidence   TEXT NOT NULL DEFAULT '', -- the text that states the relation, or from which it was inferred
    created_at REAL NOT NULL,
    UNIQUE (source_id, target_id, type),
    CHECK (source_id <> target_id)
) STRICT;

CREATE INDEX memory_links_source ON memory_links (source_id, status);

CREATE INDEX memory_links_status ON memory_links (status, type);

CREATE INDEX memory_links_target ON memory_links (target_id, status);

CREATE TABLE memory_merges (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id INTEGER NOT NULL REFERENCES memories (id),
    into_id   INTEGER NOT NULL REFERENCES memories (id),
    cosine    REAL NOT NULL,
    merged_at REAL NOT NULL,
    undone_at REAL
) STRICT;

CREATE INDEX memory_merges_into ON memory_merges (into_id);

CREATE INDEX memory_merges_memory ON memory_merges (memory_id);

CREATE TABLE memory_triggers (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id INTEGER NOT NULL REFERENCES memories (id),
    sort      TEXT NOT NULL CHECK (sort IN ('date', 'milestone')),
    due_at    REAL,                  -- for a date
    words     TEXT NOT NULL,         -- the words that state it
    made_at   REAL NOT NULL
) STRICT;

CREATE INDEX memory_triggers_due ON memory_triggers (due_at) WHERE due_at IS NOT NULL;

CREATE INDEX memory_triggers_memory ON memory_triggers (memory_id);

CREATE TABLE merge_searches (
    memory_id    INTEGER PRIMARY KEY REFERENCES memories (id),
    content_hash TEXT NOT NULL,
    model        TEXT NOT NULL
) STRICT;

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

CREATE TABLE poison_lessons (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    capture_id INTEGER NOT NULL REFERENCES implicit_captures (id),
    prints     TEXT NOT NULL, -- JSON array of integers
    threat     TEXT NOT NULL,
    created_at REAL NOT NULL,
    removed_at REAL
) STRICT;

CREATE TABLE postponed_upkeep (
    name     TEXT PRIMARY KEY,  -- 'decay' or 'review'
    since    REAL NOT NULL,     -- sessions that begin later confirm the clock
    affected INTEGER NOT NULL,
    total    INTEGER NOT NULL,
    waits    INTEGER NOT NULL,  -- 0: it ran, and as much is left to do
    allowed  INTEGER NOT NULL DEFAULT 0  -- a person permitted it
) STRICT;

CREATE TABLE project_paths (
    path       TEXT PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id)
) STRICT, WITHOUT ROWID;

CREATE TABLE projects (
    id           TEXT PRIMARY KEY,
    name         TEXT NOT NULL,
    root         TEXT NOT NULL,
    remote       TEXT NOT NULL DEFAULT '',
    first_commit TEXT NOT NULL DEFAULT '',
    created_at   REAL NOT NULL
) STRICT;

CREATE INDEX projects_first_commit ON projects (first_commit);

CREATE TABLE prompts (
    session_id TEXT NOT NULL,
    prompt_id  TEXT NOT NULL,
    written    INTEGER NOT NULL DEFAULT 0, -- whether it is in the transcript
    text       TEXT NOT NULL DEFAULT '',   -- without private spans and secrets; '' once it is written
    at         REAL NOT NULL DEFAULT 0,
    branch     TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (session_id, prompt_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE purged_captures (
    capture_key TEXT PRIMARY KEY,
    at          REAL NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE receipts (
    memory_id  INTEGER PRIMARY KEY REFERENCES memories (id) ON DELETE CASCADE,
    session_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    at         REAL NOT NULL
) STRICT;

CREATE INDEX receipts_project ON receipts (project_id, session_id);

CREATE TABLE recovered_commands (
    project_id  TEXT NOT NULL REFERENCES projects (id),
    command_key TEXT NOT NULL,
    worked_at   REAL NOT NULL,
    PRIMARY KEY (project_id, command_key)
) STRICT, WITHOUT ROWID;

CREATE TABLE redaction_state (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE redactions (
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

CREATE TABLE redactions_allowed (
    hash   TEXT PRIMARY KEY,
    at     REAL NOT NULL,
    reason TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;

CREATE TABLE schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at REAL NOT NULL) STRICT;

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

CREATE TABLE session_looks (
    session_id TEXT PRIMARY KEY,
    attempts   INTEGER NOT NULL DEFAULT 0,
    retry_at   REAL NOT NULL DEFAULT 0,
    reason     TEXT NOT NULL DEFAULT ''
) STRICT;

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
, title TEXT NOT NULL DEFAULT '', summary TEXT NOT NULL DEFAULT '', tags TEXT NOT NULL DEFAULT '[]', left_open TEXT NOT NULL DEFAULT '', sketch TEXT NOT NULL DEFAULT '', handover TEXT NOT NULL DEFAULT '', story_due INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;

CREATE INDEX sessions_project ON sessions (project_id, last_event_at);

CREATE INDEX sessions_status ON sessions (status, last_event_at);

CREATE INDEX sessions_story_due ON sessions (id) WHERE story_due;

CREATE TABLE share_rules (
    project_id TEXT NOT NULL REFERENCES projects (id),
    rule       TEXT NOT NULL,
    since      REAL NOT NULL,
    PRIMARY KEY (project_id, rule)
) STRICT, WITHOUT ROWID;

CREATE TABLE shares (
    memory_id    INTEGER PRIMARY KEY REFERENCES memories (id) ON DELETE CASCADE,
    uid          TEXT NOT NULL UNIQUE,        -- its name in Git; corrections of the memory keep it
    project_id   TEXT NOT NULL REFERENCES projects (id),
    rule         TEXT NOT NULL DEFAULT '',    -- the rule that chose it; '' if a person named it
    chosen_at    REAL NOT NULL,
    withdrawn_at REAL,                        -- since when it is not shared any more
    statement    TEXT NOT NULL DEFAULT '',    -- digest of what was last written to Git
    base         TEXT NOT NULL DEFAULT '[]'   -- versions that the memory's text is known to follow
) STRICT;

CREATE INDEX shares_project ON shares (project_id);

CREATE TRIGGER team_purge AFTER DELETE ON shares
WHEN EXISTS (SELECT 1 FROM team_projects WHERE project_id = OLD.project_id)
BEGIN
    DELETE FROM team_outbox WHERE project_id = OLD.project_id AND uid = OLD.uid;
    INSERT OR IGNORE INTO team_outbox (project_id, act, uid, created_at)
    VALUES (OLD.project_id, 'purge', OLD.uid, (julianday('now') - 2440587.5) * 86400.0);
END;

CREATE TRIGGER team_share AFTER INSERT ON shares
WHEN EXISTS (SELECT 1 FROM team_projects WHERE project_id = NEW.project_id)
BEGIN
    INSERT OR IGNORE INTO team_outbox (project_id, act, uid, created_at)
    VALUES (NEW.project_id, 'publish', NEW.uid, (julianday('now') - 2440587.5) * 86400.0);
END;

CREATE TRIGGER team_withdraw AFTER UPDATE OF withdrawn_at ON shares
WHEN OLD.withdrawn_at IS NOT NEW.withdrawn_at
AND EXISTS (SELECT 1 FROM team_projects WHERE project_id = NEW.project_id)
BEGIN
    INSERT OR IGNORE INTO team_outbox (project_id, act, uid, created_at)
    VALUES (NEW.project_id, 'publish', NEW.uid, (julianday('now') - 2440587.5) * 86400.0);
END;

CREATE TABLE surface_outcomes (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    surface_id INTEGER NOT NULL UNIQUE REFERENCES surfaces (id) ON DELETE CASCADE,
    memory_id  INTEGER NOT NULL REFERENCES memories (id),
    used       INTEGER NOT NULL CHECK (used IN (0, 1)),
    reason     TEXT NOT NULL DEFAULT '',
    at         REAL NOT NULL
) STRICT;

CREATE INDEX surface_outcomes_memory ON surface_outcomes (memory_id, id);

CREATE TRIGGER team_use AFTER INSERT ON surface_outcomes
WHEN NEW.used AND EXISTS (
    SELECT 1 FROM memories AS m JOIN team_projects AS t ON t.project_id = m.project_id WHERE m.id = NEW.memory_id
)
BEGIN
    INSERT OR IGNORE INTO team_outbox (project_id, act, uid, day, created_at)
    SELECT m.project_id, 'use', coalesce(s.uid, substr(m.turn_id, 8, 32)), CAST(julianday('now') - 2440587.5 AS INTEGER), (julianday('now') - 2440587.5) * 86400.0
    FROM memories AS m LEFT JOIN shares AS s ON s.memory_id = m.id
    WHERE m.id = NEW.memory_id AND (s.uid IS NOT NULL OR m.extractor = 'shared-1');
    DELETE FROM team_outbox WHERE act = 'use' AND id <= (
        SELECT id FROM team_outbox WHERE act = 'use' ORDER BY id DESC LIMIT 1 OFFSET 5000
    );
END;

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
, about TEXT NOT NULL DEFAULT '', priority REAL NOT NULL DEFAULT 0, limits TEXT NOT NULL DEFAULT '{}', trigger_id INTEGER REFERENCES memory_triggers (id), characters INTEGER NOT NULL DEFAULT 0) STRICT;

CREATE INDEX surfaces_memory ON surfaces (memory_id, at);

CREATE INDEX surfaces_session ON surfaces (session_id, ledger);

CREATE INDEX surfaces_trigger ON surfaces (trigger_id) WHERE trigger_id IS NOT NULL;

CREATE TABLE takeover_questions (
    link_id     INTEGER PRIMARY KEY REFERENCES memory_links (id),
    project_id  TEXT NOT NULL,
    recorded_at REAL NOT NULL,
    times_shown INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX takeover_questions_open ON takeover_questions (project_id, times_shown);

CREATE TABLE team_outbox (
    id         INTEGER PRIMARY KEY,
    project_id TEXT NOT NULL,
    act        TEXT NOT NULL CHECK (act IN ('publish', 'purge', 'use', 'confirm', 'doubt')),
    uid        TEXT NOT NULL,
    digest     TEXT NOT NULL DEFAULT '',
    day        INTEGER NOT NULL DEFAULT 0, -- of a use: days since 1970
    created_at REAL NOT NULL,
    trouble    TEXT NOT NULL DEFAULT '',   -- why the server refused it
    UNIQUE (project_id, act, uid, digest, day)
) STRICT;

CREATE TABLE team_projects (
    project_id TEXT PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
    place      TEXT NOT NULL,              -- the server and database that it was joined on
    remote_id  INTEGER NOT NULL,           -- its number there
    name       TEXT NOT NULL,              -- its name there
    person     TEXT NOT NULL,              -- the role that logs in
    member     TEXT NOT NULL,              -- reader, author or maintainer, as the server said last
    seen       INTEGER NOT NULL DEFAULT 0, -- the newest change that was read; 0 before the first time
    seen_key   TEXT NOT NULL DEFAULT '',   -- the version of that change: another one shows that the server went back
    checked    INTEGER NOT NULL DEFAULT 0, -- the event up to which the shared memories were compared with the server
    joined_at  REAL NOT NULL,
    synced_at  REAL
) STRICT, WITHOUT ROWID;

CREATE TABLE transcripts (
    path       TEXT PRIMARY KEY,
    session_id TEXT NOT NULL,
    position   INTEGER NOT NULL DEFAULT 0,
    state      TEXT NOT NULL DEFAULT '{}',
    read_at    REAL NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX transcripts_session ON transcripts (session_id);

CREATE TABLE trigger_searches (
    memory_id    INTEGER PRIMARY KEY REFERENCES memories (id),
    content_hash TEXT NOT NULL,
    version      INTEGER NOT NULL,
    searched_at  REAL NOT NULL
) STRICT;

CREATE TABLE trusted_authors (
    author TEXT PRIMARY KEY, -- an e-mail address or the fingerprint of a signing key
    since  REAL NOT NULL
) STRICT, WITHOUT ROWID;
