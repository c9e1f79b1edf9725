-- Each start searches for copies of Claude Code's notes without a file: without this index, among all memories of a
-- project.
CREATE INDEX memories_notes ON memories (project_id, archived_at) WHERE extractor = 'claude-note';
