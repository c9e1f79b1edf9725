-- Each start looks for copies of Claude Code's notes whose file is gone: among all memories of a project, without this.
CREATE INDEX memories_notes ON memories (project_id, archived_at) WHERE extractor = 'claude-note';
