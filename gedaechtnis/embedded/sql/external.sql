-- Prepares a PostgreSQL of one's own from nothing; safe to repeat. For psql, connected to any database of the server:
--
--     psql -X -f gedaechtnis/embedded/sql/external.sql
--
-- -v database=NAME names the database (default: gedaechtnis). Passwords come from the environment variables
-- OWNER_PASSWORD, APP_PASSWORD and BACKUP_PASSWORD; a role whose variable is not set keeps the one it has.
\set ON_ERROR_STOP on
\if :{?database}
\else
    \set database gedaechtnis
\endif
\ir roles.sql

-- Sets the passwords given, and keeps them out of the server's log where that may be decided here.
\set owner_password ''
\set app_password ''
\set backup_password ''
\getenv owner_password OWNER_PASSWORD
\getenv app_password APP_PASSWORD
\getenv backup_password BACKUP_PASSWORD
SELECT format('SET %I = %L', name, value)
FROM (VALUES ('log_statement', 'none'), ('log_min_duration_statement', '-1'), ('log_min_error_statement', 'panic'))
    AS quiet (name, value)
WHERE has_parameter_privilege(name, 'SET')
\gexec
SELECT format('ALTER ROLE %I PASSWORD %L', role_name, password)
FROM (VALUES
    ('gedaechtnis_owner', :'owner_password'),
    ('gedaechtnis_app', :'app_password'),
    ('gedaechtnis_backup', :'backup_password')
) AS given (role_name, password)
WHERE password <> ''
\gexec

-- Who is no superuser makes a database for another role only as a member of it, and its extensions as well.
SELECT format('GRANT gedaechtnis_owner TO %I WITH INHERIT TRUE, SET TRUE', current_user)
WHERE NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
\gexec
SELECT format('CREATE DATABASE %I OWNER gedaechtnis_owner ENCODING %L TEMPLATE template0', :'database', 'UTF8')
WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = :'database')
\gexec
\connect :"database"
\ir database.sql
SELECT rolsuper AS is_superuser FROM pg_roles WHERE rolname = current_user
\gset
\if :is_superuser
    \ir leakproof.sql
\endif
-- Making the database needed the membership, living with it does not.
SELECT format('REVOKE gedaechtnis_owner FROM %I', current_user)
WHERE NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
\gexec
