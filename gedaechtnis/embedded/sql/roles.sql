-- The roles of the memory server. Run once per PostgreSQL server by a superuser, or on a managed server by a role
-- with CREATEROLE; safe to repeat, and changes only what is not as it should be. Sets no passwords.

DO $$
DECLARE
    wanted record;
    current_attributes record;
BEGIN
    FOR wanted IN
        SELECT * FROM (VALUES
            -- Owns every table and migrates them.
            ('gedaechtnis_owner', true, false),
            -- Web, worker and beat: rows only, and only those the policies show.
            ('gedaechtnis_app', true, false),
            -- A dump under row-level security would be silently incomplete: this role sees all rows and writes none.
            ('gedaechtnis_backup', true, true),
            -- Owns the few SECURITY DEFINER functions that work across scopes.
            ('gedaechtnis_definer', false, false)
        ) AS r (name, signs_in, bypasses)
    LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted.name) THEN
            EXECUTE format('CREATE ROLE %I', wanted.name);
        END IF;
        SELECT * INTO current_attributes FROM pg_roles WHERE rolname = wanted.name;
        IF current_attributes.rolsuper OR current_attributes.rolreplication
            OR current_attributes.rolcreatedb OR current_attributes.rolcreaterole THEN
            EXECUTE format('ALTER ROLE %I NOSUPERUSER NOREPLICATION NOCREATEDB NOCREATEROLE', wanted.name);
        END IF;
        IF current_attributes.rolcanlogin <> wanted.signs_in THEN
            EXECUTE format('ALTER ROLE %I %s', wanted.name, CASE WHEN wanted.signs_in THEN 'LOGIN' ELSE 'NOLOGIN' END);
        END IF;
        IF current_attributes.rolbypassrls AND NOT wanted.bypasses THEN
            EXECUTE format('ALTER ROLE %I NOBYPASSRLS', wanted.name);
        END IF;
    END LOOP;
END
$$;

ALTER ROLE gedaechtnis_backup SET default_transaction_read_only = on;

-- What a managed server may refuse: everything but backups works without it.
DO $$
BEGIN
    IF NOT (SELECT rolbypassrls FROM pg_roles WHERE rolname = 'gedaechtnis_backup') THEN
        ALTER ROLE gedaechtnis_backup BYPASSRLS;
    END IF;
EXCEPTION WHEN insufficient_privilege THEN
    RAISE WARNING 'gedaechtnis_backup cannot be given BYPASSRLS here: make backup will refuse, use those of the server';
END
$$;
DO $$
BEGIN
    IF NOT pg_has_role('gedaechtnis_backup', 'pg_read_all_data', 'MEMBER') THEN
        GRANT pg_read_all_data TO gedaechtnis_backup;
    END IF;
EXCEPTION WHEN insufficient_privilege THEN
    RAISE NOTICE 'gedaechtnis_backup is not a member of pg_read_all_data: it reads the tables that setup grants it';
END
$$;

-- The owner may hand functions to the definer, but does not inherit its policies: it stays blind under FORCE.
GRANT gedaechtnis_definer TO gedaechtnis_owner WITH INHERIT FALSE, SET TRUE;
