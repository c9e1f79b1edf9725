-- When a person was first shown that a capture waits: the user's own words don't expire before that.
ALTER TABLE implicit_captures ADD COLUMN shown_at REAL;
