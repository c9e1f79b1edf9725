-- When a person was first shown a waiting capture: the user's own words don't expire before that.
ALTER TABLE implicit_captures ADD COLUMN shown_at REAL;
