-- The sources of a summary, each with its wording at that time. The summary itself is a capture like any other, which
-- waits for a person or has become a memory.
CREATE TABLE consolidations (
    capture_id   INTEGER NOT NULL REFERENCES implicit_captures (id),
    memory_id    INTEGER NOT NULL REFERENCES memories (id),
    content_hash TEXT NOT NULL,
    PRIMARY KEY (capture_id, memory_id)
) STRICT;
CREATE INDEX consolidations_memory ON consolidations (memory_id);
