-- Memories that were said twice (SPEC D11, D12): the one that was archived, and the one that says it since. A row that
-- was taken back stays, so that the two are left apart.
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

-- Which memories were compared with the others, as they were worded then, by the vectors of which model.
CREATE TABLE IF NOT EXISTS merge_searches (
    memory_id    INTEGER PRIMARY KEY REFERENCES memories (id),
    content_hash TEXT NOT NULL,
    model        TEXT NOT NULL
) STRICT;
