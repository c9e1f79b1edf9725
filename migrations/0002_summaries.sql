-- What a session was about, made anew whenever it goes on; the sketch is what it is made from (JSON).
ALTER TABLE sessions ADD COLUMN title TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN summary TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';
ALTER TABLE sessions ADD COLUMN left_open TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN sketch TEXT NOT NULL DEFAULT '';
