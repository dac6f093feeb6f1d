DROP FUNCTION world_find_names_as_definer(uuid, smallint, text[], text[], text, text, smallint, text, uuid, integer);
DROP FUNCTION world_find_names(text[], text[], text, text, smallint, text, uuid, integer);
DROP INDEX entities_beginning, entity_aliases_beginning;
ALTER TABLE entity_aliases
  DROP CONSTRAINT entity_aliases_no_overlap,
  ADD CONSTRAINT entity_aliases_no_overlap EXCLUDE USING gist
    (scope_ref WITH =, namespace WITH =, key WITH =, entity_id WITH =, tstzrange(valid_from, valid_to) WITH &&)
    WHERE (superseded_at IS NULL);

-- The functions of 0003 again.
DO $install$
DECLARE
  asked constant text := 'keys text[], of_status text, of_kind text, after_tier smallint, after_key text, '
                         'after_id uuid, page integer';
  body constant text := $body$
DECLARE
  wanted constant text[] := ARRAY(SELECT world_fold(k.key) FROM unnest(keys) WITH ORDINALITY AS k (key, n)
                                  GROUP BY 1 ORDER BY min(n));
BEGIN
  PERFORM set_config('pg_trgm.word_similarity_threshold', min(world_sure_share(key))::text, true)
  FROM unnest(wanted) AS k (key);
  RETURN QUERY
    WITH named AS (
      -- By equality too: a name of nothing but emoji has no trigram.
      SELECT t.id, t.search_key AS name FROM entities t
      WHERE (t.search_key % ANY (wanted) OR t.search_key %> ANY (wanted) OR t.name_key = ANY (keys)) %1$s
      UNION ALL
      SELECT t.entity_id, t.search_key FROM entity_aliases t
      WHERE (t.search_key % ANY (wanted) OR t.search_key %> ANY (wanted) OR t.key = ANY (keys))
        AND t.superseded_at IS NULL %1$s
    ), best AS MATERIALIZED (
      SELECT named.id, min(2 * fit.fit + (k.n > 1)::int)::smallint AS tier
      FROM named CROSS JOIN unnest(wanted) WITH ORDINALITY AS k (key, n) CROSS JOIN LATERAL (SELECT CASE
        WHEN named.name = k.key THEN 0
        WHEN starts_with(named.name, k.key) THEN 1
        WHEN strpos(named.name, ' ' || k.key) > 0 THEN 2
        WHEN length(k.key) >= 3 AND strpos(named.name, k.key) > 0 THEN 3
        WHEN similarity(named.name, k.key) >= 0.6 THEN 4 END) AS fit (fit)
      WHERE fit.fit IS NOT NULL
      GROUP BY named.id
    )
    SELECT t.id, best.tier FROM best JOIN entities t ON t.id = best.id
    WHERE t.status = of_status AND (of_kind IS NULL OR t.kind = of_kind)
      AND (after_tier IS NULL OR (best.tier, t.name_key, t.id) > (after_tier, after_key, after_id)) %1$s
    ORDER BY best.tier, t.name_key, t.id LIMIT page;
END
$body$;
  -- Planned anew each time: for the keys at hand, and for what is leakproof today.
  variant constant text := 'CREATE FUNCTION %s RETURNS TABLE (id uuid, tier smallint) LANGUAGE plpgsql STABLE %s '
    'SET search_path = public, pg_temp SET plan_cache_mode = force_custom_plan '
    'SET pg_trgm.similarity_threshold = 0.6 SET pg_trgm.word_similarity_threshold = 0.6 AS %L';
BEGIN
  PERFORM show_limit();  -- loads pg_trgm: before that only a superuser may name its settings
  EXECUTE format(variant, format('world_find_names(%s)', asked), 'SECURITY INVOKER', replace(body, '%1$s', ''));
  EXECUTE format(
    variant,
    format('world_find_names_as_definer(scopes text[], org uuid, clearance smallint, %s)', asked),
    'SECURITY DEFINER',
    replace(body, '%1$s', 'AND t.scope_ref = ANY (scopes) AND (t.org_id IS NULL OR t.org_id = org) '
                          'AND t.classification <= clearance'));
END
$install$;

-- Before the function changes hands: afterwards the owner may no longer grant it.
REVOKE ALL ON FUNCTION
  world_find_names_as_definer(text[], uuid, smallint, text[], text, text, smallint, text, uuid, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
  world_find_names_as_definer(text[], uuid, smallint, text[], text, text, smallint, text, uuid, integer)
  TO gedaechtnis_app;
ALTER FUNCTION world_find_names_as_definer(text[], uuid, smallint, text[], text, text, smallint, text, uuid, integer)
  OWNER TO gedaechtnis_definer;
