-- The files of one session: read once a week for each ended session.
CREATE INDEX IF NOT EXISTS transcripts_session ON transcripts (session_id);
