-- Statements that no person made and that were found with good evidence: given rarely and marked, until they are
-- confirmed. Such a memory is archived as far as every other query is concerned, so nothing takes it for one in force.
-- It is unconfirmed only while the capture that it was made of waits.
ALTER TABLE memories ADD COLUMN unconfirmed INTEGER NOT NULL DEFAULT 0
    CHECK (unconfirmed = 0 OR archived_at IS NOT NULL);
CREATE INDEX memories_unconfirmed ON memories (project_id, id) WHERE unconfirmed;

-- Why a capture may not be given unconfirmed; '' if nothing speaks against it, NULL if nobody has looked yet.
ALTER TABLE implicit_captures ADD COLUMN reservation TEXT;
CREATE INDEX implicit_captures_unweighed ON implicit_captures (session_id) WHERE status = 'review' AND reservation IS NULL;
