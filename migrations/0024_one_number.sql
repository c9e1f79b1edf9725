-- A capture that waits has the number that its memory will have: from now on both take their numbers from one sequence
-- (subconscious/store/numbers.py). Captures that became no memory get new numbers here, those that wait first, since a
-- memory may have theirs already. Their events keep the old number; one more event says which that was.
ALTER TABLE implicit_captures ADD COLUMN shown_at REAL; -- when a person first saw that it waits

PRAGMA defer_foreign_keys = ON;
CREATE TABLE renumbered (old INTEGER PRIMARY KEY, new INTEGER NOT NULL) STRICT;
INSERT INTO renumbered
    SELECT id, row_number() OVER (ORDER BY status <> 'review', NOT quarantined, id)
        + (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name IN ('memories', 'implicit_captures'))
    FROM implicit_captures WHERE memory_id IS NULL;
INSERT INTO events (at, actor, action, subject, subject_id, before, after)
    SELECT (julianday('now') - 2440587.5) * 86400.0, 'daemon', 'renumbered', 'capture', CAST(new AS TEXT),
        json_object('id', old), json_object('id', new)
    FROM renumbered WHERE EXISTS
        (SELECT 1 FROM events WHERE subject = 'capture' AND subject_id = CAST(old AS TEXT));
UPDATE consolidations SET capture_id = (SELECT new FROM renumbered WHERE old = capture_id)
    WHERE capture_id IN (SELECT old FROM renumbered);
UPDATE poison_lessons SET capture_id = (SELECT new FROM renumbered WHERE old = capture_id)
    WHERE capture_id IN (SELECT old FROM renumbered);
UPDATE implicit_captures SET id = (SELECT new FROM renumbered WHERE old = implicit_captures.id)
    WHERE id IN (SELECT old FROM renumbered);
UPDATE sqlite_sequence SET seq = (SELECT max(id) FROM implicit_captures)
    WHERE name = 'implicit_captures' AND seq < (SELECT max(id) FROM implicit_captures);
DROP TABLE renumbered;
