-- Statements that no person made and that have good evidence: given rarely and marked, until they are confirmed. For
-- every other query such a memory is archived, so nothing treats it as active. It is unconfirmed only while its capture
-- waits.
ALTER TABLE memories ADD COLUMN unconfirmed INTEGER NOT NULL DEFAULT 0
    CHECK (unconfirmed = 0 OR archived_at IS NOT NULL);
CREATE INDEX memories_unconfirmed ON memories (project_id, id) WHERE unconfirmed;

-- Why a capture may not be given unconfirmed; '' if there is no reason, NULL if it was not examined yet.
ALTER TABLE implicit_captures ADD COLUMN reservation TEXT;
CREATE INDEX implicit_captures_unweighed ON implicit_captures (session_id) WHERE status = 'review' AND reservation IS NULL;
