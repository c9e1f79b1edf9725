-- A session's hand-over to the next one (JSON of its parts), written with its summary; '' if there is none.
ALTER TABLE sessions ADD COLUMN handover TEXT NOT NULL DEFAULT '';

-- Which session's hand-over was given to which session, and when. `ledger` is 1 while it is in that session's context.
CREATE TABLE handovers (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL,
    from_id    TEXT NOT NULL,
    event      TEXT NOT NULL,
    at         REAL NOT NULL,
    ledger     INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE INDEX handovers_session ON handovers (session_id, ledger);

-- The size of each memory when it was given, which limits what the session may still be given.
ALTER TABLE surfaces ADD COLUMN characters INTEGER NOT NULL DEFAULT 0;

-- Memories that were stored from a session and not reported to its user yet.
CREATE TABLE receipts (
    memory_id  INTEGER PRIMARY KEY REFERENCES memories (id) ON DELETE CASCADE,
    session_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    at         REAL NOT NULL
) STRICT;
CREATE INDEX receipts_project ON receipts (project_id, session_id);

-- Memories that may lead a session's start (subconscious/store/memories.py, START_CANDIDATES), in reading order.
CREATE INDEX memories_leading ON memories (project_id, pinned DESC, recurrence DESC, said_at DESC, id DESC)
    WHERE archived_at IS NULL AND (pinned OR recurrence > 1 OR kind IN ('lesson', 'preference', 'pattern')
    OR extractor = 'observed-1');
