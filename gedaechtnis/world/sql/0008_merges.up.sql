-- A merge or a split writes one scope. Others that name the entity follow by work of their own; which ones they are
-- is nobody's business, so this neither tells nor counts them. Runs as `definer`, because it looks into all of them.
CREATE FUNCTION world_follow_merge(moved uuid) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  INSERT INTO work AS w (kind, scope_ref, acting_sub, org_id, object_id, due_at, seq, attempts, dedupe_key, last_error)
  SELECT 'follow_merge', naming.scope_ref,
         CASE WHEN naming.scope_ref LIKE 'user:%' THEN substr(naming.scope_ref, 6)::uuid END,
         home.org_id, moved, clock_timestamp(), 1, 0, moved::text, ''
  FROM (
    SELECT scope_ref FROM facts WHERE superseded_at IS NULL AND subject_id = moved
    UNION SELECT scope_ref FROM facts WHERE superseded_at IS NULL AND object_entity_id = moved
    UNION SELECT scope_ref FROM facts WHERE superseded_at IS NULL AND applies_to_id = moved
    UNION SELECT scope_ref FROM entity_aliases WHERE superseded_at IS NULL AND entity_id = moved
    UNION SELECT scope_ref FROM entity_merges WHERE tick_to IS NULL AND source_id = moved
  ) naming
  JOIN entities home ON home.id = moved AND home.scope_ref <> naming.scope_ref
  ON CONFLICT (kind, scope_ref, dedupe_key) DO UPDATE
  SET seq = w.seq + 1, due_at = EXCLUDED.due_at, attempts = 0, failed_at = NULL, last_error = ''
$$;

-- Before the function changes hands: afterwards the owner may no longer grant it.
REVOKE ALL ON FUNCTION world_follow_merge(uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION world_follow_merge(uuid) TO gedaechtnis_app;
ALTER FUNCTION world_follow_merge(uuid) OWNER TO gedaechtnis_definer;
