-- What a summing up was made from (SPEC A20): each of its sources, as it was worded then. The summing up itself is a
-- capture like any other, which waits for a person or has become a memory.
CREATE TABLE consolidations (
    capture_id   INTEGER NOT NULL REFERENCES implicit_captures (id),
    memory_id    INTEGER NOT NULL REFERENCES memories (id),
    content_hash TEXT NOT NULL,
    PRIMARY KEY (capture_id, memory_id)
) STRICT;
CREATE INDEX consolidations_memory ON consolidations (memory_id);
