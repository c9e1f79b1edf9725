-- Indexes for lists in order: recent memories, memories of a session, and those that a session's start lists.
CREATE INDEX IF NOT EXISTS memories_recent ON memories (archived_at, said_at);
CREATE INDEX IF NOT EXISTS memories_in_session ON memories (session_id, archived_at, said_at, project_id);
CREATE INDEX IF NOT EXISTS memories_core ON memories (project_id, pinned, said_at)
    WHERE archived_at IS NULL AND (pinned OR kind = 'lesson');

-- Full text of the archived memories: separate, so that they don't affect active searches, and rank among themselves.
CREATE VIRTUAL TABLE IF NOT EXISTS archived_fts USING fts5 (
    project, summary, content, rationale, tags, files,
    tokenize = 'porter unicode61'
);
INSERT INTO archived_fts (rowid, project, summary, content, rationale, tags, files)
    SELECT id, coalesce(project_id, 'userwide'), summary, content, rationale,
        (SELECT coalesce(group_concat(value, ' '), '') FROM json_each(tags)),
        (SELECT coalesce(group_concat(value, ' '), '') FROM json_each(files))
    FROM memories WHERE archived_at IS NOT NULL AND id NOT IN (SELECT rowid FROM archived_fts);
