-- What a session was about, updated whenever it continues; it is made from the sketch (JSON).
ALTER TABLE sessions ADD COLUMN title TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN summary TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';
ALTER TABLE sessions ADD COLUMN left_open TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN sketch TEXT NOT NULL DEFAULT '';
