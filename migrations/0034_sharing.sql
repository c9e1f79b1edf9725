-- Memories that a person shares through Git, and the origin of what others share.

-- SQLite can't change a CHECK: the column is made again with one origin more. Nothing indexes it.
ALTER TABLE memories RENAME COLUMN origin TO earlier_origin;
ALTER TABLE memories ADD COLUMN origin TEXT NOT NULL DEFAULT 'tool'
    CHECK (origin IN ('user', 'assistant', 'teammate', 'tool'));
UPDATE memories SET origin = earlier_origin;
ALTER TABLE memories DROP COLUMN earlier_origin;

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

CREATE TABLE share_rules (
    project_id TEXT NOT NULL REFERENCES projects (id),
    rule       TEXT NOT NULL,
    since      REAL NOT NULL,
    PRIMARY KEY (project_id, rule)
) STRICT, WITHOUT ROWID;

CREATE TABLE trusted_authors (
    author TEXT PRIMARY KEY, -- an e-mail address or the fingerprint of a signing key
    since  REAL NOT NULL
) STRICT, WITHOUT ROWID;
