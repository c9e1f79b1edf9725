-- A model is to tell the session's story when it is over; until then, and if it can't, the one told offline stands.
ALTER TABLE sessions ADD COLUMN story_due INTEGER NOT NULL DEFAULT 0;
CREATE INDEX sessions_story_due ON sessions (id) WHERE story_due;
