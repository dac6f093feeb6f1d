-- Reads that stay fast in large scopes; docs/adr/0012-name-search.md has the reasons.

-- A GiST index serves a condition on any of its columns, but for one of the later ones it reads nearly all of itself,
-- which the planner does not see: aliases of entities took it instead of their own index. No query asks for the text.
ALTER TABLE entity_aliases
  DROP CONSTRAINT entity_aliases_no_overlap,
  ADD CONSTRAINT entity_aliases_no_overlap EXCLUDE USING gist
    (scope_ref WITH =, namespace WITH =, key WITH =, (entity_id::text) WITH =, tstzrange(valid_from, valid_to) WITH &&)
    WHERE (superseded_at IS NULL);

-- Names in order within a scope: the first that begin with a text are read without looking at the others.
CREATE INDEX entities_beginning ON entities (scope_ref, search_key, id);
CREATE INDEX entity_aliases_beginning ON entity_aliases (scope_ref, search_key, entity_id) WHERE superseded_at IS NULL;

DROP FUNCTION world_find_names_as_definer(text[], uuid, smallint, text[], text, text, smallint, text, uuid, integer);
DROP FUNCTION world_find_names(text[], text, text, smallint, text, uuid, integer);

-- One search, twice: as the caller under the policies, which needs the trigram operators leakproof to use the
-- index, and as `definer`, which sees everything and is therefore told what the caller may see.
-- Both return a page of (entity, tier, name) after the row at (after_tier, after_name, after_id), the best first.
-- A tier is how well a name fits: even for the first key (what was asked), odd for the others (other spellings of it).
DO $install$
DECLARE
  asked constant text := 'scopes text[], keys text[], of_status text, of_kind text, after_tier smallint, '
                         'after_name text, after_id uuid, page integer';
  -- The names to rank, %1$s, as (id, name); the best of each entity counts.
  ranked constant text := $ranked$
    WITH named AS (%1$s), best AS MATERIALIZED (
      SELECT DISTINCT ON (named.id) named.id, (2 * fit.fit + (k.n > 1)::int)::smallint AS tier, named.name
      FROM named CROSS JOIN unnest(wanted) WITH ORDINALITY AS k (key, n) CROSS JOIN LATERAL (SELECT CASE
        WHEN named.name = k.key THEN 0
        WHEN starts_with(named.name, k.key) THEN 1
        WHEN strpos(named.name, ' ' || k.key) > 0 THEN 2
        WHEN length(k.key) >= 3 AND strpos(named.name, k.key) > 0 THEN 3
        WHEN similarity(named.name, k.key) >= 0.6 THEN 4 END) AS fit (fit)
      WHERE fit.fit IS NOT NULL
      ORDER BY 1, 2, 3
    )
    SELECT best.id, best.tier, best.name FROM best JOIN entities t ON t.id = best.id
    WHERE t.status = of_status AND (of_kind IS NULL OR t.kind = of_kind)
      AND (after_tier IS NULL OR (best.tier, best.name, best.id) > (after_tier, after_name, after_id)) {readable}
    ORDER BY best.tier, best.name, best.id LIMIT page$ranked$;
  -- By equality too: a name of nothing but emoji has no trigram.
  alike constant text := $alike$
      SELECT t.id, t.search_key AS name FROM entities t
      WHERE (t.search_key % ANY (wanted) OR t.search_key %> ANY (wanted) OR t.name_key = ANY (keys)) {readable}
      UNION ALL
      SELECT t.entity_id, t.search_key FROM entity_aliases t
      WHERE (t.search_key % ANY (wanted) OR t.search_key %> ANY (wanted) OR t.key = ANY (keys))
        AND t.superseded_at IS NULL {readable}$alike$;
  begun constant text := $begun$
      SELECT t.id, t.search_key AS name FROM entities t WHERE t.id = ANY (beginning) {readable}
      UNION ALL
      SELECT t.entity_id, t.search_key FROM entity_aliases t
      WHERE t.entity_id = ANY (beginning) AND t.superseded_at IS NULL {readable}$begun$;
  body constant text := $body$
DECLARE
  wanted constant text[] := ARRAY(SELECT world_fold(k.key) FROM unnest(keys) WITH ORDINALITY AS k (key, n)
                                  GROUP BY 1 ORDER BY min(n));
  beginning uuid[];
  is_enough boolean := false;
BEGIN
  -- What begins with a key ranks before all else and stands in order in an index. So the first page is often full
  -- before the many names are met that only hold a short key. Several aliases of one entity fill one place together:
  -- where that leaves a list short, the whole search decides.
  IF after_tier IS NULL THEN
    WITH list AS MATERIALIZED (
      SELECT first.id, first.is_alias, s.scope_ref, k.n
      FROM unnest(scopes) AS s (scope_ref) CROSS JOIN unnest(wanted) WITH ORDINALITY AS k (key, n) CROSS JOIN LATERAL (
        (SELECT t.id, false AS is_alias FROM entities t
         WHERE t.scope_ref = s.scope_ref AND t.search_key >= k.key AND t.search_key < k.key || U&'\+10FFFF'
           AND t.status = of_status AND (of_kind IS NULL OR t.kind = of_kind) {readable}
         ORDER BY t.search_key, t.id LIMIT page)
        UNION ALL
        (SELECT t.entity_id, true FROM entity_aliases t
         WHERE t.scope_ref = s.scope_ref AND t.search_key >= k.key AND t.search_key < k.key || U&'\+10FFFF'
           AND t.superseded_at IS NULL {readable}
           AND EXISTS (SELECT FROM entities e
             WHERE e.id = t.entity_id AND e.status = of_status AND (of_kind IS NULL OR e.kind = of_kind)
               {entity readable})
         ORDER BY t.search_key, t.entity_id LIMIT 4 * page)
      ) AS first
    )
    SELECT array_agg(DISTINCT list.id), count(DISTINCT list.id) >= page AND NOT EXISTS (
      SELECT FROM list AS l WHERE l.is_alias GROUP BY l.scope_ref, l.n
      HAVING count(*) = 4 * page AND count(DISTINCT l.id) < page)
    INTO beginning, is_enough FROM list;
  END IF;
  IF is_enough THEN
    RETURN QUERY {begun};
    RETURN;
  END IF;
  PERFORM set_config('pg_trgm.word_similarity_threshold', min(world_sure_share(key))::text, true)
  FROM unnest(wanted) AS k (key);
  RETURN QUERY {alike};
END
$body$;
  whole constant text := replace(replace(body, '{begun}', replace(ranked, '%1$s', begun)),
                                 '{alike}', replace(ranked, '%1$s', alike));
  may_read constant text := 'AND t.scope_ref = ANY (scopes) AND (t.org_id IS NULL OR t.org_id = org) '
                            'AND t.classification <= clearance';
  -- Planned anew each time: for the keys at hand, and for what is leakproof today.
  variant constant text := 'CREATE FUNCTION %s RETURNS TABLE (id uuid, tier smallint, name text) '
    'LANGUAGE plpgsql STABLE %s SET search_path = public, pg_temp SET plan_cache_mode = force_custom_plan '
    'SET pg_trgm.similarity_threshold = 0.6 SET pg_trgm.word_similarity_threshold = 0.6 AS %L';
BEGIN
  PERFORM show_limit();  -- loads pg_trgm: before that only a superuser may name its settings
  EXECUTE format(variant, format('world_find_names(%s)', asked), 'SECURITY INVOKER',
    replace(replace(whole, '{readable}', ''), '{entity readable}', ''));
  EXECUTE format(
    variant, format('world_find_names_as_definer(org uuid, clearance smallint, %s)', asked), 'SECURITY DEFINER',
    replace(replace(whole, '{readable}', may_read), '{entity readable}', replace(may_read, 't.', 'e.')));
END
$install$;

-- Before the function changes hands: afterwards the owner may no longer grant it.
REVOKE ALL ON FUNCTION
  world_find_names_as_definer(uuid, smallint, text[], text[], text, text, smallint, text, uuid, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
  world_find_names_as_definer(uuid, smallint, text[], text[], text, text, smallint, text, uuid, integer)
  TO gedaechtnis_app;
ALTER FUNCTION world_find_names_as_definer(uuid, smallint, text[], text[], text, text, smallint, text, uuid, integer)
  OWNER TO gedaechtnis_definer;
