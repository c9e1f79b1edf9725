-- What a session leaves to the next one (JSON of its parts), written with its summary; '' where there is nothing to say.
ALTER TABLE sessions ADD COLUMN handover TEXT NOT NULL DEFAULT '';

-- Which session was handed over to which one, and when. In the ledger as long as it stands in that session's context.
CREATE TABLE handovers (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL,
    from_id    TEXT NOT NULL,
    event      TEXT NOT NULL,
    at         REAL NOT NULL,
    ledger     INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE INDEX handovers_session ON handovers (session_id, ledger);

-- How much room each memory took when it was given: what a session may still be given depends on it.
ALTER TABLE surfaces ADD COLUMN characters INTEGER NOT NULL DEFAULT 0;

-- Memories that were stored from a session and of which its user has not been told yet.
CREATE TABLE receipts (
    memory_id  INTEGER PRIMARY KEY REFERENCES memories (id) ON DELETE CASCADE,
    session_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    at         REAL NOT NULL
) STRICT;
CREATE INDEX receipts_project ON receipts (project_id, session_id);

-- What may lead a start (subconscious/store/memories.py, LEADS), in the order in which it is read.
CREATE INDEX memories_leading ON memories (project_id, pinned DESC, recurrence DESC, said_at DESC, id DESC)
    WHERE archived_at IS NULL AND (pinned OR recurrence > 1 OR kind IN ('lesson', 'preference', 'pattern')
    OR extractor = 'observed-1');
