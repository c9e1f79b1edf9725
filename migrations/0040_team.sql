-- Projects that are joined to one of a team's store, and what is still to be sent to it.

CREATE TABLE team_projects (
    project_id TEXT PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
    place      TEXT NOT NULL,              -- the server and database that it was joined on
    remote_id  INTEGER NOT NULL,           -- its number there
    name       TEXT NOT NULL,              -- its name there
    person     TEXT NOT NULL,              -- the role that logs in
    member     TEXT NOT NULL,              -- reader, author or maintainer, as the server said last
    seen       INTEGER NOT NULL DEFAULT 0, -- the newest change that was read; 0 before the first time
    seen_key   TEXT NOT NULL DEFAULT '',   -- the version of that change: another one shows that the server went back
    checked    INTEGER NOT NULL DEFAULT 0, -- the event up to which the shared memories were compared with the server
    joined_at  REAL NOT NULL,
    synced_at  REAL
) STRICT, WITHOUT ROWID;

-- Names of what is to be sent, without any text: what is sent is made, cleaned and checked when it is sent.
CREATE TABLE team_outbox (
    id         INTEGER PRIMARY KEY,
    project_id TEXT NOT NULL,
    act        TEXT NOT NULL CHECK (act IN ('publish', 'purge', 'use', 'confirm', 'doubt')),
    uid        TEXT NOT NULL,
    digest     TEXT NOT NULL DEFAULT '',
    day        INTEGER NOT NULL DEFAULT 0, -- of a use: days since 1970
    created_at REAL NOT NULL,
    trouble    TEXT NOT NULL DEFAULT '',   -- why the server refused it
    UNIQUE (project_id, act, uid, digest, day)
) STRICT;

-- In the transaction of the change itself, so that a crash loses neither.
CREATE TRIGGER team_share AFTER INSERT ON shares
WHEN EXISTS (SELECT 1 FROM team_projects WHERE project_id = NEW.project_id)
BEGIN
    INSERT OR IGNORE INTO team_outbox (project_id, act, uid, created_at)
    VALUES (NEW.project_id, 'publish', NEW.uid, (julianday('now') - 2440587.5) * 86400.0);
END;

CREATE TRIGGER team_withdraw AFTER UPDATE OF withdrawn_at ON shares
WHEN OLD.withdrawn_at IS NOT NEW.withdrawn_at
AND EXISTS (SELECT 1 FROM team_projects WHERE project_id = NEW.project_id)
BEGIN
    INSERT OR IGNORE INTO team_outbox (project_id, act, uid, created_at)
    VALUES (NEW.project_id, 'publish', NEW.uid, (julianday('now') - 2440587.5) * 86400.0);
END;

-- Only a purge deletes a memory that is shared.
CREATE TRIGGER team_purge AFTER DELETE ON shares
WHEN EXISTS (SELECT 1 FROM team_projects WHERE project_id = OLD.project_id)
BEGIN
    DELETE FROM team_outbox WHERE project_id = OLD.project_id AND uid = OLD.uid;
    INSERT OR IGNORE INTO team_outbox (project_id, act, uid, created_at)
    VALUES (OLD.project_id, 'purge', OLD.uid, (julianday('now') - 2440587.5) * 86400.0);
END;

-- A use that an answer showed, of a memory that came from the team or is shared with it; once a day. The oldest are
-- dropped beyond 5,000: they only rank.
CREATE TRIGGER team_use AFTER INSERT ON surface_outcomes
WHEN NEW.used AND EXISTS (
    SELECT 1 FROM memories AS m JOIN team_projects AS t ON t.project_id = m.project_id WHERE m.id = NEW.memory_id
)
BEGIN
    INSERT OR IGNORE INTO team_outbox (project_id, act, uid, day, created_at)
    SELECT m.project_id, 'use', coalesce(s.uid, substr(m.turn_id, 8, 32)), CAST(julianday('now') - 2440587.5 AS INTEGER), (julianday('now') - 2440587.5) * 86400.0
    FROM memories AS m LEFT JOIN shares AS s ON s.memory_id = m.id
    WHERE m.id = NEW.memory_id AND (s.uid IS NOT NULL OR m.extractor = 'shared-1');
    DELETE FROM team_outbox WHERE act = 'use' AND id <= (
        SELECT id FROM team_outbox WHERE act = 'use' ORDER BY id DESC LIMIT 1 OFFSET 5000
    );
END;

CREATE INDEX implicit_captures_shared ON implicit_captures (project_id, turn_id) WHERE extractor = 'shared-1';
