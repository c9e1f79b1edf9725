-- Runs of the nightly, weekly and monthly maintenance: how far each has come, so that one that was cut short goes on
-- there, and what it did (JSON, by phase).
CREATE TABLE IF NOT EXISTS maintenance_runs (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    job         TEXT NOT NULL,
    state       TEXT NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'done')),
    phase       TEXT NOT NULL,            -- the one that is under way
    cursor      TEXT NOT NULL DEFAULT '', -- the phase's own word of how far it is
    started_at  REAL NOT NULL,
    finished_at REAL,
    report      TEXT NOT NULL DEFAULT '{}'
) STRICT;
CREATE UNIQUE INDEX IF NOT EXISTS maintenance_runs_running ON maintenance_runs (job) WHERE state = 'running';
CREATE INDEX IF NOT EXISTS maintenance_runs_job ON maintenance_runs (job, started_at);
