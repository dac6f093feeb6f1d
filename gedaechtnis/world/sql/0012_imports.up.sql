-- An import begins in a scope that holds nothing but its own person, and leaves nothing behind when it is refused: both
-- take every row of the scope that memory is made of. Runs as `definer`, because the application deletes no beliefs; so
-- it acts only while the scope is being imported, when nobody else can have written there.
CREATE FUNCTION world_clear_for_import(cleared text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  scoped regclass;
BEGIN
  IF cleared IS DISTINCT FROM nullif(current_setting('gedaechtnis.write_scope', true), '') THEN
    RAISE EXCEPTION 'this scope is not open for writing' USING ERRCODE = 'insufficient_privilege';
  END IF;
  PERFORM 1 FROM scopes s JOIN imports i ON i.scope_ref = s.scope_ref AND i.state = 'running'
    WHERE s.scope_ref = cleared AND s.state = 'importing';
  IF NOT FOUND THEN
    RAISE EXCEPTION 'nothing is being imported here' USING ERRCODE = 'object_not_in_prerequisite_state';
  END IF;
  FOR scoped IN
    SELECT c.oid FROM pg_class c JOIN pg_policy p ON p.polrelid = c.oid
    WHERE p.polname = 'scope_definer' AND NOT c.relispartition AND c.relnamespace = 'public'::regnamespace
      AND c.relname <> 'imports'
    ORDER BY c.relname
  LOOP
    EXECUTE format('DELETE FROM %s WHERE scope_ref = $1', scoped) USING cleared;
  END LOOP;
END $$;

-- Before the function changes hands: afterwards the owner may no longer grant it.
REVOKE ALL ON FUNCTION world_clear_for_import(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION world_clear_for_import(text) TO gedaechtnis_app;
ALTER FUNCTION world_clear_for_import(text) OWNER TO gedaechtnis_definer;
