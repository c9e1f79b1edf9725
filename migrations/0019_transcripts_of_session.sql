-- The files of one session: asked for each session that is over, once a week.
CREATE INDEX IF NOT EXISTS transcripts_session ON transcripts (session_id);
