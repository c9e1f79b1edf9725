-- A model is to write the session's story after its end; until then, and if it fails, the offline story is used.
ALTER TABLE sessions ADD COLUMN story_due INTEGER NOT NULL DEFAULT 0;
CREATE INDEX sessions_story_due ON sessions (id) WHERE story_due;
