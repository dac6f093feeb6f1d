-- What the database needs before the first migration. Run inside it by a superuser, or by a member of its owner where
-- the server lets that one create the extensions; safe to repeat.
-- Create it with: CREATE DATABASE gedaechtnis OWNER gedaechtnis_owner ENCODING 'UTF8' TEMPLATE template0;

CREATE EXTENSION IF NOT EXISTS vector;
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE EXTENSION IF NOT EXISTS btree_gin;
CREATE EXTENSION IF NOT EXISTS btree_gist;
CREATE EXTENSION IF NOT EXISTS unaccent;

DO $$
BEGIN
    EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO gedaechtnis_app, gedaechtnis_backup', current_database());
END
$$;

REVOKE CREATE ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO gedaechtnis_app, gedaechtnis_backup;
GRANT USAGE, CREATE ON SCHEMA public TO gedaechtnis_owner, gedaechtnis_definer;
