-- Claude Code's own notes: the folder that was read for a project, and the result for each file in it. The searchable
-- copy of a note is an ordinary memory; its file is never written to.
CREATE TABLE IF NOT EXISTS claude_note_folders (
    project_id TEXT NOT NULL REFERENCES projects (id),
    path       TEXT NOT NULL,
    looked_at  REAL NOT NULL,
    PRIMARY KEY (project_id, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS claude_notes (
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
CREATE INDEX IF NOT EXISTS claude_notes_memory ON claude_notes (memory_id);
