-- Questions to the user at a session's start whether a new statement replaces an older one: one per proposed link.
-- project_id is '' if both statements apply to all projects.
CREATE TABLE takeover_questions (
    link_id     INTEGER PRIMARY KEY REFERENCES memory_links (id),
    project_id  TEXT NOT NULL,
    recorded_at REAL NOT NULL,
    times_shown INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX takeover_questions_open ON takeover_questions (project_id, times_shown);
