-- A team's store: versions of shared memories by project, and who may read and write them.
--
-- The server decides, never the client: a person is the role that has logged in (session_user). No setting that a client
-- can change, and no SET ROLE, changes who they are. Tables belong to subconscious_owner, which row-level security binds,
-- too (FORCE), and which sees no row. What needs more than a person's own rows is a function of subconscious_functions,
-- which examines session_user first. Nobody can log in as these two, and no person is a member of them.
--
-- Setup has created the roles (roles.sql) and pgvector, and makes an administrator who is no superuser a member of these
-- two until the migrations are applied: what belongs to one of them is created by SET LOCAL ROLE.

CREATE SCHEMA subconscious AUTHORIZATION subconscious_owner;
GRANT USAGE ON SCHEMA subconscious TO subconscious_member, subconscious_functions;
GRANT CREATE ON SCHEMA subconscious TO subconscious_functions;

SET LOCAL ROLE subconscious_owner;

CREATE TABLE subconscious.migrations (
    version    integer PRIMARY KEY,
    name       text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE subconscious.projects (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name       text NOT NULL UNIQUE CHECK (name ~ '^[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$'),
    created_by text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE subconscious.members (
    project_id bigint NOT NULL REFERENCES subconscious.projects ON DELETE CASCADE,
    person     text NOT NULL CHECK (length(person) BETWEEN 1 AND 63), -- a role that logs in
    role       text NOT NULL CHECK (role IN ('reader', 'author', 'maintainer')),
    added_by   text NOT NULL,
    since      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (project_id, person)
);
CREATE INDEX members_person ON subconscious.members (person, project_id);

-- One row for each version of a memory. A purged version keeps its digest, so that it can't come back, and no text.
CREATE TABLE subconscious.versions (
    project_id   bigint NOT NULL REFERENCES subconscious.projects ON DELETE CASCADE,
    uid          text NOT NULL CHECK (uid ~ '^[0-9a-f]{32}$'),
    digest       text NOT NULL CHECK (digest ~ '^[0-9a-f]{32}$'),
    change       bigint NOT NULL, -- ascends with the commits of a project; readers ask for what is newer
    author       text NOT NULL,
    shared_at    timestamptz NOT NULL,
    version      jsonb NOT NULL,
    embedding    public.halfvec(384),
    embedder     text NOT NULL DEFAULT '' CHECK (length(embedder) <= 100),
    confirmed_by text,
    confirmed_at timestamptz,
    replaced_by  text,
    replaced_at  timestamptz,
    purged_by    text,
    purged_at    timestamptz,
    live         boolean NOT NULL GENERATED ALWAYS AS (replaced_at IS NULL AND purged_at IS NULL) STORED,
    search       tsvector NOT NULL GENERATED ALWAYS AS (
        to_tsvector('english', left(coalesce(version #>> '{record,memory,content}', ''), 8000) || ' '
            || left(coalesce(version #>> '{record,memory,rationale}', ''), 4000))
    ) STORED,
    PRIMARY KEY (project_id, uid, digest),
    CHECK ((embedding IS NULL) = (embedder = '')),
    CHECK (
        purged_at IS NOT NULL AND version = '{}' OR (
            purged_at IS NULL
            AND octet_length(version::text) <= 65536
            AND version #>> '{record,uid}' IS NOT DISTINCT FROM uid
            AND coalesce(jsonb_typeof(version #> '{record,memory,content}'), '') = 'string'
            AND length(version #>> '{record,memory,content}') BETWEEN 1 AND 8000
        )
    )
) PARTITION BY HASH (project_id);

DO $$
BEGIN
    FOR part IN 0..7 LOOP
        EXECUTE format('CREATE TABLE subconscious.versions_%s PARTITION OF subconscious.versions'
            ' FOR VALUES WITH (MODULUS 8, REMAINDER %s) WITH (fillfactor = 90)', part, part);
    END LOOP;
END
$$;

CREATE INDEX versions_change ON subconscious.versions (project_id, change);
CREATE INDEX versions_author ON subconscious.versions (project_id, author, shared_at);
CREATE INDEX versions_search ON subconscious.versions USING gin (search) WHERE live;
CREATE INDEX versions_embedding ON subconscious.versions USING hnsw (embedding public.halfvec_cosine_ops) WHERE live;

-- One row for each memory: who shared it first, and how the team uses it.
CREATE TABLE subconscious.memories (
    project_id   bigint NOT NULL REFERENCES subconscious.projects ON DELETE CASCADE,
    uid          text NOT NULL CHECK (uid ~ '^[0-9a-f]{32}$'),
    author       text NOT NULL,
    shared_at    timestamptz NOT NULL DEFAULT now(),
    people       integer NOT NULL DEFAULT 0, -- how many people used it
    uses         bigint NOT NULL DEFAULT 0,  -- days on which they did, added up
    last_used_at timestamptz,
    purged_at    timestamptz,
    PRIMARY KEY (project_id, uid)
);
CREATE INDEX memories_used ON subconscious.memories (project_id, people DESC, last_used_at DESC) WHERE people > 0;

CREATE TABLE subconscious.uses (
    project_id bigint NOT NULL REFERENCES subconscious.projects ON DELETE CASCADE,
    uid        text NOT NULL,
    person     text NOT NULL,
    day        date NOT NULL,
    PRIMARY KEY (project_id, uid, person, day)
);

CREATE TABLE subconscious.events (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id bigint NOT NULL REFERENCES subconscious.projects ON DELETE CASCADE,
    at         timestamptz NOT NULL DEFAULT now(),
    person     text NOT NULL,
    act        text NOT NULL,
    uid        text,
    about      text NOT NULL DEFAULT ''
);
CREATE INDEX events_project ON subconscious.events (project_id, id);

CREATE SEQUENCE subconscious.changes;

-- Row-level security. The owner is bound by it and has no policy: it sees nothing.
ALTER TABLE subconscious.projects ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE subconscious.members ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE subconscious.versions ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE subconscious.memories ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE subconscious.uses ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE subconscious.events ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
DO $$
BEGIN
    FOR part IN 0..7 LOOP
        EXECUTE format('ALTER TABLE subconscious.versions_%s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', part);
    END LOOP;
END
$$;

GRANT SELECT ON subconscious.migrations TO subconscious_member;
GRANT SELECT ON subconscious.projects, subconscious.members, subconscious.versions, subconscious.memories,
    subconscious.events TO subconscious_member;
-- No author, no time, no mark: the server sets them.
GRANT INSERT (project_id, uid, digest, version, embedding, embedder) ON subconscious.versions TO subconscious_member;
GRANT SELECT, INSERT, UPDATE, DELETE ON subconscious.projects, subconscious.members, subconscious.versions,
    subconscious.memories, subconscious.uses, subconscious.events TO subconscious_functions;
GRANT USAGE ON SEQUENCE subconscious.changes TO subconscious_functions;

SET LOCAL ROLE subconscious_functions;

-- The projects in which the person who has logged in has at least this role.
CREATE FUNCTION subconscious.my_projects(lowest text) RETURNS bigint[]
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
RETURN (
    SELECT coalesce(array_agg(project_id), '{}') FROM subconscious.members
    WHERE person = session_user
    AND (lowest = 'reader' OR role = 'maintainer' OR (lowest = 'author' AND role = 'author'))
);

CREATE FUNCTION subconscious.require(project bigint, lowest text) RETURNS void
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF project IS NULL OR NOT project = ANY (subconscious.my_projects(lowest)) THEN
        RAISE insufficient_privilege USING MESSAGE = format('you are no %s of this project', lowest);
    END IF;
END
$$;

RESET ROLE;
SET LOCAL ROLE subconscious_owner;

CREATE POLICY functions ON subconscious.projects TO subconscious_functions USING (true) WITH CHECK (true);
CREATE POLICY functions ON subconscious.members TO subconscious_functions USING (true) WITH CHECK (true);
CREATE POLICY functions ON subconscious.versions TO subconscious_functions USING (true) WITH CHECK (true);
CREATE POLICY functions ON subconscious.memories TO subconscious_functions USING (true) WITH CHECK (true);
CREATE POLICY functions ON subconscious.uses TO subconscious_functions USING (true) WITH CHECK (true);
CREATE POLICY functions ON subconscious.events TO subconscious_functions USING (true) WITH CHECK (true);

CREATE POLICY reader ON subconscious.projects FOR SELECT TO subconscious_member
    USING (id = ANY ((SELECT subconscious.my_projects('reader'))::bigint[]));
CREATE POLICY reader ON subconscious.members FOR SELECT TO subconscious_member
    USING (project_id = ANY ((SELECT subconscious.my_projects('reader'))::bigint[]));
CREATE POLICY reader ON subconscious.versions FOR SELECT TO subconscious_member
    USING (project_id = ANY ((SELECT subconscious.my_projects('reader'))::bigint[]));
CREATE POLICY reader ON subconscious.memories FOR SELECT TO subconscious_member
    USING (project_id = ANY ((SELECT subconscious.my_projects('reader'))::bigint[]));
CREATE POLICY reader ON subconscious.events FOR SELECT TO subconscious_member
    USING (project_id = ANY ((SELECT subconscious.my_projects('reader'))::bigint[]));
CREATE POLICY author ON subconscious.versions FOR INSERT TO subconscious_member
    WITH CHECK (author = session_user AND project_id = ANY ((SELECT subconscious.my_projects('author'))::bigint[]));

RESET ROLE;
SET LOCAL ROLE subconscious_functions;

CREATE FUNCTION subconscious.note(project bigint, act text, uid text, about text) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    INSERT INTO subconscious.events (project_id, person, act, uid, about)
    VALUES (project, session_user, act, uid, left(about, 200));
END;
REVOKE EXECUTE ON FUNCTION subconscious.note FROM PUBLIC;

-- The number of a change. The lock lasts until the commit, so that numbers of one project appear in their order, and a
-- reader who has seen one has seen all before it.
CREATE FUNCTION subconscious.next_change(project bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('subconscious.changes'), hashint8(project));
    RETURN nextval('subconscious.changes');
END
$$;
REVOKE EXECUTE ON FUNCTION subconscious.next_change FROM PUBLIC;

CREATE FUNCTION subconscious.version_comes() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    lately bigint;
BEGIN
    PERFORM subconscious.require(NEW.project_id, 'author');
    SELECT count(*) INTO lately FROM (
        SELECT FROM subconscious.versions AS v WHERE v.project_id = NEW.project_id AND v.author = session_user
        AND v.shared_at > now() - interval '1 day' LIMIT 5000) AS found;
    IF lately >= 5000 THEN
        RAISE program_limit_exceeded USING MESSAGE = 'a person shares at most 5000 versions a day in a project';
    END IF;
    IF EXISTS (SELECT FROM subconscious.memories AS m
        WHERE m.project_id = NEW.project_id AND m.uid = NEW.uid AND m.purged_at IS NOT NULL) THEN
        RAISE object_not_in_prerequisite_state USING MESSAGE = 'this memory was purged';
    END IF;
    NEW.author := session_user;
    NEW.shared_at := now();
    NEW.confirmed_by := NULL; NEW.confirmed_at := NULL;
    NEW.replaced_by := NULL; NEW.replaced_at := NULL;
    NEW.purged_by := NULL; NEW.purged_at := NULL;
    NEW.change := subconscious.next_change(NEW.project_id);
    RETURN NEW;
END
$$;

CREATE FUNCTION subconscious.version_came() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO subconscious.memories (project_id, uid, author) VALUES (NEW.project_id, NEW.uid, NEW.author)
        ON CONFLICT DO NOTHING;
    PERFORM subconscious.note(NEW.project_id, 'share', NEW.uid, NEW.digest);
    RETURN NULL;
END
$$;

-- Anybody who may log in may begin a project, and is its maintainer.
CREATE FUNCTION subconscious.create_project(name text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    made bigint;
BEGIN
    INSERT INTO subconscious.projects (name, created_by) VALUES (create_project.name, session_user)
        RETURNING id INTO made;
    INSERT INTO subconscious.members (project_id, person, role, added_by)
        VALUES (made, session_user, 'maintainer', session_user);
    PERFORM subconscious.note(made, 'create', NULL, create_project.name);
    RETURN made;
END
$$;

-- Gives a person a role in a project, or with '' none. A project keeps a maintainer.
CREATE FUNCTION subconscious.set_member(project bigint, person text, role text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
    PERFORM subconscious.require(project, 'maintainer');
    PERFORM pg_advisory_xact_lock(hashtext('subconscious.members'), hashint8(project));
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = set_member.person AND rolcanlogin) THEN
        RAISE undefined_object USING MESSAGE = 'no role of this name can log in';
    END IF;
    IF set_member.role = '' THEN
        DELETE FROM subconscious.members AS m WHERE m.project_id = project AND m.person = set_member.person;
    ELSE
        INSERT INTO subconscious.members (project_id, person, role, added_by)
            VALUES (project, set_member.person, set_member.role, session_user)
            ON CONFLICT (project_id, person) DO UPDATE SET role = excluded.role, added_by = excluded.added_by;
    END IF;
    IF NOT EXISTS (SELECT FROM subconscious.members AS m WHERE m.project_id = project AND m.role = 'maintainer') THEN
        RAISE object_not_in_prerequisite_state USING MESSAGE = 'a project needs a maintainer';
    END IF;
    PERFORM subconscious.note(project, 'member', NULL, set_member.person || ' ' || set_member.role);
END
$$;

-- Marks versions as replaced or withdrawn: one's own, or any as a maintainer. Twice is once.
CREATE FUNCTION subconscious.replace_versions(project bigint, uid text, digests text[]) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    changed integer;
BEGIN
    PERFORM subconscious.require(project, 'author');
    UPDATE subconscious.versions AS v
        SET replaced_by = session_user, replaced_at = now(), change = subconscious.next_change(project)
        WHERE v.project_id = project AND v.uid = replace_versions.uid AND v.digest = ANY (digests)
        AND v.replaced_at IS NULL AND v.purged_at IS NULL
        AND (v.author = session_user OR project = ANY (subconscious.my_projects('maintainer')));
    GET DIAGNOSTICS changed = ROW_COUNT;
    IF changed > 0 THEN
        PERFORM subconscious.note(project, 'replace', uid, array_to_string(digests, ' '));
    END IF;
    RETURN changed;
END
$$;

-- Erases one's own versions of a memory, or as a maintainer all of them. A memory without a version left stays purged.
CREATE FUNCTION subconscious.purge(project bigint, uid text) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    changed integer;
BEGIN
    PERFORM subconscious.require(project, 'reader');
    UPDATE subconscious.versions AS v
        SET version = '{}', embedding = NULL, embedder = '', purged_by = session_user, purged_at = now(),
            change = subconscious.next_change(project)
        WHERE v.project_id = project AND v.uid = purge.uid AND v.purged_at IS NULL
        AND (v.author = session_user OR project = ANY (subconscious.my_projects('maintainer')));
    GET DIAGNOSTICS changed = ROW_COUNT;
    IF changed > 0 THEN
        UPDATE subconscious.memories AS m SET purged_at = now()
            WHERE m.project_id = project AND m.uid = purge.uid AND NOT EXISTS (
                SELECT FROM subconscious.versions AS v
                WHERE v.project_id = project AND v.uid = purge.uid AND v.purged_at IS NULL);
        PERFORM subconscious.note(project, 'purge', uid, '');
    END IF;
    RETURN changed;
END
$$;

-- A maintainer confirms a version, or with wanted = false takes that back.
CREATE FUNCTION subconscious.confirm(project bigint, uid text, digest text, wanted boolean) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    changed integer;
BEGIN
    PERFORM subconscious.require(project, 'maintainer');
    UPDATE subconscious.versions AS v
        SET confirmed_by = CASE WHEN wanted THEN session_user END, confirmed_at = CASE WHEN wanted THEN now() END,
            change = subconscious.next_change(project)
        WHERE v.project_id = project AND v.uid = confirm.uid AND v.digest = confirm.digest
        AND v.live AND (v.confirmed_at IS NOT NULL) <> wanted;
    GET DIAGNOSTICS changed = ROW_COUNT;
    IF changed > 0 THEN
        PERFORM subconscious.note(project, CASE WHEN wanted THEN 'confirm' ELSE 'doubt' END, uid, digest);
    END IF;
    RETURN changed;
END
$$;

-- Counts a person's use of memories, at most once a day each.
CREATE FUNCTION subconscious.use(project bigint, uids text[], days date[]) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    counted integer;
BEGIN
    PERFORM subconscious.require(project, 'reader');
    WITH said AS (
        SELECT DISTINCT one.uid, least(one.day, current_date) AS day
        FROM unnest(uids[1:1000], days[1:1000]) AS one (uid, day)
        JOIN subconscious.memories AS m ON m.project_id = project AND m.uid = one.uid AND m.purged_at IS NULL
        WHERE one.day > current_date - 90
    ), people AS (
        SELECT DISTINCT said.uid FROM said WHERE NOT EXISTS (SELECT FROM subconscious.uses AS u
            WHERE u.project_id = project AND u.uid = said.uid AND u.person = session_user)
    ), new AS (
        INSERT INTO subconscious.uses AS u (project_id, uid, person, day)
        SELECT project, said.uid, session_user, said.day FROM said
        ON CONFLICT DO NOTHING RETURNING u.uid, u.day
    ), added AS (
        SELECT new.uid, count(*) AS times, max(new.day) AS latest FROM new GROUP BY new.uid
    )
    UPDATE subconscious.memories AS m SET
        uses = m.uses + added.times,
        people = m.people + CASE WHEN EXISTS (SELECT FROM people WHERE people.uid = m.uid) THEN 1 ELSE 0 END,
        last_used_at = greatest(m.last_used_at, added.latest::timestamptz)
        FROM added WHERE m.project_id = project AND m.uid = added.uid;
    GET DIAGNOSTICS counted = ROW_COUNT;
    RETURN counted;
END
$$;

-- The 50 versions of a project that are nearest to a vector. The index covers all projects of a partition, so it would
-- read many rows of others, or give up, to find those of a small project: these are compared one by one.
CREATE FUNCTION subconscious.nearest(project bigint, near public.halfvec, model text)
RETURNS TABLE (uid text, digest text, distance float8)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp
SET hnsw.iterative_scan = 'relaxed_order' SET hnsw.ef_search = '100' SET hnsw.max_scan_tuples = '20000'
SET enable_sort = 'off' SET plan_cache_mode = 'force_generic_plan' SET jit = 'off' AS $$
#variable_conflict use_column
BEGIN
    IF near IS NULL THEN
        RETURN;
    END IF;
    IF (SELECT count(*) FROM (
        SELECT FROM subconscious.versions AS v WHERE v.project_id = project LIMIT 2001) AS first) > 2000
    THEN
        RETURN QUERY SELECT v.uid, v.digest, v.embedding <=> near FROM subconscious.versions AS v
            WHERE v.project_id = project AND v.live AND v.embedder = model
            ORDER BY v.embedding <=> near LIMIT 50;
    ELSE
        RETURN QUERY WITH measured AS MATERIALIZED (
            SELECT v.uid, v.digest, v.embedding <=> near AS distance FROM subconscious.versions AS v
            WHERE v.project_id = project AND v.live AND v.embedder = model
        ) SELECT m.uid, m.digest, m.distance FROM measured AS m ORDER BY m.distance LIMIT 50;
    END IF;
END
$$;

-- Search by words and by meaning, in one project. Row-level security would keep the index of words from being used, since
-- the operators are not leakproof, so this function examines who asks, and reads as its owner.
--
-- Ranks are fused by their places. A memory counts for less the longer the team has not used it, by half after 90 days,
-- never for less than half; each person who used it delays that. Candidates are ranked by ts_rank, which takes a twentieth
-- of the time of ts_rank_cd and prefers versions with more of the words; plans are kept.
CREATE FUNCTION subconscious.search(project bigint, words text, near public.halfvec, model text, most integer)
RETURNS TABLE (
    uid text, digest text, author text, version jsonb, confirmed_by text, people integer, cosine real, score real
)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = 'force_generic_plan' SET jit = 'off' AS $$
#variable_conflict use_column
DECLARE
    asked tsquery := websearch_to_tsquery('english', words);
BEGIN
    PERFORM subconscious.require(project, 'reader');
    RETURN QUERY
    -- Some of the matches of each word, so that those of a rare word are all there whatever else was asked.
    WITH matching AS MATERIALIZED (
        SELECT one.uid, one.digest, max(one.rank) AS rank
        FROM (SELECT DISTINCT w.lexeme FROM unnest(to_tsvector('english', words)) AS w LIMIT 16) AS word
        CROSS JOIN LATERAL (
            SELECT v.uid, v.digest, ts_rank(v.search, asked) AS rank FROM subconscious.versions AS v
            WHERE v.project_id = project AND v.live
            AND v.search @@ ('''' || replace(replace(word.lexeme, '\', '\\'), '''', '''''') || '''')::tsquery
            LIMIT 200
        ) AS one
        GROUP BY one.uid, one.digest
    ), placed AS (
        SELECT m.uid, m.digest, row_number() OVER (ORDER BY m.rank DESC, m.uid) AS place, NULL::float8 AS distance
        FROM (SELECT * FROM matching ORDER BY rank DESC LIMIT 50) AS m
        UNION ALL
        SELECT n.uid, n.digest, row_number() OVER (ORDER BY n.distance, n.uid), n.distance
        FROM subconscious.nearest(project, near, model) AS n WHERE n.distance IS NOT NULL
    ), fused AS (
        SELECT p.uid, p.digest, sum(1.0 / (20 + p.place)) AS rank, min(p.distance) AS distance
        FROM placed AS p GROUP BY p.uid, p.digest
    )
    SELECT v.uid, v.digest, v.author, v.version, v.confirmed_by, v.people, coalesce(1 - f.distance, 0)::real,
        (f.rank * (0.5 + 0.5 * power(0.5, extract(epoch FROM now() - v.used_at)
            / (86400.0 * 90 * (1 + ln(1 + v.people))))))::real AS score
    FROM fused AS f
    -- OFFSET keeps these lookups by key: the planner would read all memories of the project instead.
    CROSS JOIN LATERAL (
        SELECT v.uid, v.digest, v.author, v.version, v.confirmed_by, m.people,
            greatest(m.last_used_at, v.shared_at) AS used_at
        FROM subconscious.versions AS v
        JOIN subconscious.memories AS m ON m.project_id = project AND m.uid = f.uid
        WHERE v.project_id = project AND v.uid = f.uid AND v.digest = f.digest OFFSET 0
    ) AS v
    ORDER BY score DESC, v.uid LIMIT least(greatest(most, 0), 50);
END
$$;

REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA subconscious FROM PUBLIC;
GRANT EXECUTE ON FUNCTION subconscious.my_projects, subconscious.create_project, subconscious.set_member,
    subconscious.replace_versions, subconscious.purge, subconscious.confirm, subconscious.use, subconscious.search
    TO subconscious_member;
GRANT EXECUTE ON FUNCTION subconscious.version_comes, subconscious.version_came TO subconscious_owner;

RESET ROLE;
SET LOCAL ROLE subconscious_owner;
CREATE TRIGGER version_comes BEFORE INSERT ON subconscious.versions
    FOR EACH ROW EXECUTE FUNCTION subconscious.version_comes();
CREATE TRIGGER version_came AFTER INSERT ON subconscious.versions
    FOR EACH ROW EXECUTE FUNCTION subconscious.version_came();

RESET ROLE;
REVOKE CREATE ON SCHEMA subconscious FROM subconscious_functions;
