-- Merged memories: the archived one, and the one that it was merged into. A merge that was undone keeps its row, so
-- that the two are not merged again.
CREATE TABLE IF NOT EXISTS memory_merges (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id INTEGER NOT NULL REFERENCES memories (id),
    into_id   INTEGER NOT NULL REFERENCES memories (id),
    cosine    REAL NOT NULL,
    merged_at REAL NOT NULL,
    undone_at REAL
) STRICT;
CREATE INDEX IF NOT EXISTS memory_merges_memory ON memory_merges (memory_id);
CREATE INDEX IF NOT EXISTS memory_merges_into ON memory_merges (into_id);

-- Which memories were compared with the others, with their wording at that time and the model of the vectors.
CREATE TABLE IF NOT EXISTS merge_searches (
    memory_id    INTEGER PRIMARY KEY REFERENCES memories (id),
    content_hash TEXT NOT NULL,
    model        TEXT NOT NULL
) STRICT;
