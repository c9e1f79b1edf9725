-- The roles of a team's store. They are created before the first migration, and belong to all databases of a server, so
-- that another one may have brought them. Nobody can log in as them, and their creator gets no membership beyond the
-- ADMIN OPTION that the server gives.
SET LOCAL createrole_self_grant = '';

DO $$
DECLARE
    missing name;
BEGIN
    FOREACH missing IN ARRAY '{subconscious_owner, subconscious_functions, subconscious_member}'::name[] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = missing) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN', missing);
        END IF;
    END LOOP;
END
$$;
