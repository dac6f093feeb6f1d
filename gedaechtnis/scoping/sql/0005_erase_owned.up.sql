-- As before, and with a person goes what is theirs alone in the scopes of others: their own rows of tables that have an
-- owner policy (`OwnedTable`). Whoever writes such rows holds the row in `scopes` of both.
SET LOCAL ROLE gedaechtnis_definer;

CREATE OR REPLACE FUNCTION scoping_erase(erased text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  scoped regclass;
  owned boolean;
  gone bigint;
  total bigint := 0;
BEGIN
  IF (CASE
    WHEN erased LIKE 'user:%' THEN EXISTS (SELECT 1 FROM identity_user WHERE 'user:' || sub = erased AND is_active)
    WHEN erased LIKE 'group:%' THEN
      EXISTS (SELECT 1 FROM identity_group WHERE 'group:' || id = erased AND closed_at IS NULL)
    WHEN erased LIKE 'org:%' THEN EXISTS (SELECT 1 FROM identity_org WHERE 'org:' || id = erased)
    ELSE true END)
  THEN
    RAISE EXCEPTION 'this scope is in use' USING ERRCODE = 'object_in_use';
  END IF;

  INSERT INTO scopes (scope_ref, tick, revision, state) VALUES (erased, clock_timestamp(), 0, 'closed')
  ON CONFLICT (scope_ref) DO NOTHING;
  -- Whoever writes there holds this row (`clocks.hold`): waits for them, and they find it erased afterwards.
  PERFORM 1 FROM scopes WHERE scope_ref = erased AND state <> 'erased' FOR UPDATE;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  UPDATE scopes SET state = 'erased', revision = revision + 1 WHERE scope_ref = erased;

  FOR scoped, owned IN
    SELECT c.oid, EXISTS (SELECT 1 FROM pg_policy o WHERE o.polrelid = c.oid AND o.polname = 'scope_owner')
    FROM pg_class c JOIN pg_policy p ON p.polrelid = c.oid
    WHERE p.polname = 'scope_definer' AND NOT c.relispartition AND c.relnamespace = 'public'::regnamespace
    ORDER BY c.relname
  LOOP
    EXECUTE format('DELETE FROM %s WHERE scope_ref = $1', scoped) || CASE WHEN owned THEN ' OR owner_ref = $1' ELSE '' END
    USING erased;
    GET DIAGNOSTICS gone = ROW_COUNT;
    total := total + gone;
  END LOOP;
  DELETE FROM work WHERE scope_ref = erased OR 'user:' || acting_sub = erased;
  RETURN total;
END $$;

RESET ROLE;
