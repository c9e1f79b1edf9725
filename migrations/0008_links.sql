-- Relations between memories: stored once, from source to target, and read from both ends.
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
CREATE INDEX memory_links_target ON memory_links (target_id, status);
CREATE INDEX memory_links_source ON memory_links (source_id, status);
CREATE INDEX memory_links_status ON memory_links (status, type);

-- The version of the rules with which each memory was searched for links; one without a row is searched next.
CREATE TABLE link_searches (
    memory_id   INTEGER PRIMARY KEY REFERENCES memories (id),
    version     TEXT NOT NULL,
    searched_at REAL NOT NULL
) STRICT;

-- Changes that were made together share an act, so that they can be undone together; '' is an act of its own.
ALTER TABLE events ADD COLUMN act TEXT NOT NULL DEFAULT '';
CREATE INDEX events_act ON events (act) WHERE act <> '';
