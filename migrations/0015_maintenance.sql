-- Runs of the nightly, weekly and monthly maintenance: their progress, so that an interrupted run continues, and their
-- results (JSON, by phase).
CREATE TABLE IF NOT EXISTS maintenance_runs (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    job         TEXT NOT NULL,
    state       TEXT NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'done')),
    phase       TEXT NOT NULL,            -- the current one
    cursor      TEXT NOT NULL DEFAULT '', -- progress within the phase
    started_at  REAL NOT NULL,
    finished_at REAL,
    report      TEXT NOT NULL DEFAULT '{}'
) STRICT;
CREATE UNIQUE INDEX IF NOT EXISTS maintenance_runs_running ON maintenance_runs (job) WHERE state = 'running';
CREATE INDEX IF NOT EXISTS maintenance_runs_job ON maintenance_runs (job, started_at);
