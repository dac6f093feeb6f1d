-- Row-level security in one place: scoping_protect() gives a table its policies.
-- Run by migrations and by the partition care below; see docs/adr for the reasons.

CREATE FUNCTION scoping_keep_identity() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF (NEW.id, NEW.scope_ref) IS DISTINCT FROM (OLD.id, OLD.scope_ref) OR NEW.org_id IS DISTINCT FROM OLD.org_id THEN
    RAISE EXCEPTION 'id, scope_ref and org_id of % never change', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;

CREATE FUNCTION scoping_protect(target regclass) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  -- (SELECT …) is evaluated once per statement, not per row; the ::text[] keeps ANY an array operator.
  readable constant text := $p$
    (org_id IS NULL OR org_id = (SELECT nullif(current_setting('gedaechtnis.current_org', true), '')::uuid))
    AND scope_ref = ANY ((SELECT string_to_array(nullif(current_setting('gedaechtnis.read_scopes', true), ''), ','))::text[])
    AND classification <= (SELECT coalesce(nullif(current_setting('gedaechtnis.clearance', true), '')::smallint, 0::smallint))$p$;
  writable constant text := $p$
    scope_ref = (SELECT nullif(current_setting('gedaechtnis.write_scope', true), ''))$p$;
BEGIN
  EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', target);
  EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', target);
  EXECUTE format('CREATE POLICY scope_read ON %s FOR SELECT USING (%s)', target, readable);
  EXECUTE format('CREATE POLICY scope_insert ON %s FOR INSERT WITH CHECK (%s)', target, writable);
  EXECUTE format('CREATE POLICY scope_update ON %s FOR UPDATE USING (%s) WITH CHECK (%s)', target, writable, writable);
  EXECUTE format('CREATE POLICY scope_delete ON %s FOR DELETE USING (%s)', target, writable);
  EXECUTE format('CREATE POLICY scope_definer ON %s FOR ALL TO gedaechtnis_definer USING (true) WITH CHECK (true)', target);
END $$;

REVOKE ALL ON FUNCTION scoping_protect(regclass) FROM PUBLIC;

-- A row of one scope may name an entity of another only if every reader of the row reads the entity.
-- One error for "missing" and for "not allowed": a difference would tell that a foreign row exists.
CREATE FUNCTION scoping_may_reference(row_scope text, row_org uuid, entity_scope text) RETURNS boolean
LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
  SELECT entity_scope = row_scope
      OR entity_scope = 'global'
      OR (row_org IS NOT NULL AND entity_scope = 'org:' || row_org)
      OR (row_scope LIKE 'user:%' AND entity_scope LIKE 'group:%' AND EXISTS (
            SELECT 1 FROM identity_groupmembership m JOIN identity_user u ON u.id = m.user_id
            WHERE 'user:' || u.sub = row_scope AND 'group:' || m.group_id = entity_scope))
      OR (row_scope LIKE 'user:%' AND entity_scope LIKE 'org:%' AND EXISTS (
            SELECT 1 FROM identity_orgmembership m JOIN identity_user u ON u.id = m.user_id
            WHERE 'user:' || u.sub = row_scope AND 'org:' || m.org_id = entity_scope));
$$;
