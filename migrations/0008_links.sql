-- How memories bear on each other (SPEC A9): stored once, from source to target, and read from both ends.
CREATE TABLE memory_links (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    source_id  INTEGER NOT NULL REFERENCES memories (id),
    target_id  INTEGER NOT NULL REFERENCES memories (id),
    type       TEXT NOT NULL,
    status     TEXT NOT NULL DEFAULT 'active' CHECK (status IN
        ('active', 'proposed', 'refused', 'withdrawn')), -- refused: a person said no, so it is not proposed again
    confidence REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    created_by TEXT NOT NULL,            -- 'user', 'assistant', 'rules', a model's name, 'system'
    evidence   TEXT NOT NULL DEFAULT '', -- the words that state the relation, or what it was inferred from
    created_at REAL NOT NULL,
    UNIQUE (source_id, target_id, type),
    CHECK (source_id <> target_id)
) STRICT;
CREATE INDEX memory_links_target ON memory_links (target_id, status);
CREATE INDEX memory_links_source ON memory_links (source_id, status);
CREATE INDEX memory_links_status ON memory_links (status, type);

-- With which version of the rules each memory's links were looked for; one without a row waits for it.
CREATE TABLE link_searches (
    memory_id   INTEGER PRIMARY KEY REFERENCES memories (id),
    version     TEXT NOT NULL,
    searched_at REAL NOT NULL
) STRICT;

-- Changes that were made together have one act, so that they can be taken back together (SPEC N10); '' stands alone.
ALTER TABLE events ADD COLUMN act TEXT NOT NULL DEFAULT '';
CREATE INDEX events_act ON events (act) WHERE act <> '';
