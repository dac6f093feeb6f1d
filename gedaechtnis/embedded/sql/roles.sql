-- The roles of the memory server. Run as superuser, once per PostgreSQL cluster; safe to repeat.
-- Passwords are set apart from this file (psql: \password gedaechtnis_app).

DO $$
DECLARE
    role_name text;
BEGIN
    FOREACH role_name IN ARRAY ARRAY[
        'gedaechtnis_owner', 'gedaechtnis_app', 'gedaechtnis_backup', 'gedaechtnis_definer'
    ] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role_name) THEN
            EXECUTE format('CREATE ROLE %I', role_name);
        END IF;
    END LOOP;
END
$$;

-- Owns every table and migrates them.
ALTER ROLE gedaechtnis_owner LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE NOREPLICATION;
-- Web, worker and beat: rows only, and only those the policies show.
ALTER ROLE gedaechtnis_app LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE NOREPLICATION;
-- A dump under row-level security would be silently incomplete, so this role sees all rows and writes none.
ALTER ROLE gedaechtnis_backup LOGIN NOSUPERUSER BYPASSRLS NOCREATEDB NOCREATEROLE NOREPLICATION;
ALTER ROLE gedaechtnis_backup SET default_transaction_read_only = on;
GRANT pg_read_all_data TO gedaechtnis_backup;
-- Owns the few SECURITY DEFINER functions that work across scopes.
ALTER ROLE gedaechtnis_definer NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE NOREPLICATION;
-- The owner may hand functions to the definer, but does not inherit its policies: it stays blind under FORCE.
GRANT gedaechtnis_definer TO gedaechtnis_owner WITH INHERIT FALSE, SET TRUE;
