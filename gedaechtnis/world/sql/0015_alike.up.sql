-- Words that are spelt alike, among those a reader may see. Twice, like the search for names (0004_reads.up.sql): as the
-- caller under the policies, which needs the trigram operator leakproof to use the index, and as `definer`, which sees
-- everything and is therefore told what the caller may see. Both return the most alike of each word, at most `page`.
DO $install$
DECLARE
  body constant text := $body$
    SELECT w.word, near.lexeme, near.likeness, near.documents
    FROM unnest(words) AS w (word) CROSS JOIN LATERAL (
      SELECT t.lexeme::text AS lexeme, similarity(t.lexeme, w.word) AS likeness, sum(t.documents) AS documents
      FROM lexeme_counts t WHERE t.scope_ref = ANY (scopes) AND t.lexeme % w.word {readable}
      GROUP BY t.lexeme ORDER BY 2 DESC, 3 DESC, 1 LIMIT page
    ) AS near$body$;
  may_read constant text := 'AND (t.org_id IS NULL OR t.org_id = org) AND t.classification <= clearance';
  variant constant text := 'CREATE FUNCTION %s RETURNS TABLE (word text, lexeme text, likeness real, documents bigint) '
    'LANGUAGE plpgsql STABLE %s SET search_path = public, pg_temp SET plan_cache_mode = force_custom_plan '
    'SET pg_trgm.similarity_threshold = 0.45 AS %L';
BEGIN
  PERFORM show_limit();  -- loads pg_trgm: before that only a superuser may name its settings
  EXECUTE format(variant, 'world_find_alike(scopes text[], words text[], page integer)', 'SECURITY INVOKER',
    format('#variable_conflict use_column%sBEGIN RETURN QUERY %s; END', E'\n', replace(body, '{readable}', '')));
  EXECUTE format(variant,
    'world_find_alike_as_definer(org uuid, clearance smallint, scopes text[], words text[], page integer)',
    'SECURITY DEFINER',
    format('#variable_conflict use_column%sBEGIN RETURN QUERY %s; END', E'\n', replace(body, '{readable}', may_read)));
END
$install$;

-- Before the function changes hands: afterwards the owner may no longer grant it.
REVOKE ALL ON FUNCTION world_find_alike_as_definer(uuid, smallint, text[], text[], integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION world_find_alike_as_definer(uuid, smallint, text[], text[], integer) TO gedaechtnis_app;
ALTER FUNCTION world_find_alike_as_definer(uuid, smallint, text[], text[], integer) OWNER TO gedaechtnis_definer;
