-- A memory may have vectors of several models: of the one in use, of one being computed, and of the fallback. SQLite
-- can't widen a primary key in place: the table is created again with all rows and columns.
CREATE TABLE embeddings_wide (
    memory_id INTEGER NOT NULL REFERENCES memories (id),
    project   TEXT NOT NULL, -- '' for user-wide memories
    model     TEXT NOT NULL,
    dim       INTEGER NOT NULL,
    vector    BLOB NOT NULL,
    active    INTEGER NOT NULL DEFAULT 1,
    stamp     INTEGER NOT NULL, -- rises with every write, so that an index can find rows that it missed
    digest    TEXT NOT NULL DEFAULT '', -- of the embedded text: the same text is not paid for twice
    PRIMARY KEY (memory_id, model)
) STRICT;
INSERT INTO embeddings_wide (memory_id, project, model, dim, vector, active, stamp)
    SELECT memory_id, project, model, dim, vector, active, stamp FROM embeddings;
DROP TABLE embeddings;
ALTER TABLE embeddings_wide RENAME TO embeddings;
CREATE INDEX embeddings_project ON embeddings (model, project, active);
CREATE INDEX embeddings_stamp ON embeddings (stamp);

-- The models of the vectors. `name` is stored with the vectors, `base` is the embedder's own name: a server may answer
-- with another model under the same name, which `canary`, the vector of a fixed text, reveals.
CREATE TABLE embedding_models (
    name      TEXT PRIMARY KEY,
    base      TEXT NOT NULL,
    dim       INTEGER NOT NULL,
    canary    BLOB,
    serving   INTEGER NOT NULL DEFAULT 0,
    wanted_at REAL NOT NULL DEFAULT 0 -- since when memories wait for this model's vectors
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX embedding_models_serving ON embedding_models (serving) WHERE serving;
INSERT INTO embedding_models (name, base, dim) SELECT model, model, max(dim) FROM embeddings GROUP BY model;
UPDATE embedding_models SET serving = 1
    WHERE name = (SELECT model FROM embeddings GROUP BY model ORDER BY count(*) DESC, model LIMIT 1);
