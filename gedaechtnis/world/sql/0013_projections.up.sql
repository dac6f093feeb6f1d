-- Recall: what keeps the indexes of projections right whoever changes what; docs/adr/0018-postings.md has the reasons.

-- Words that end alike stand side by side backwards. A stored column, because an index on an expression serves under a
-- policy only if the expression's functions are leakproof; so does the comparison by bytes.
ALTER TABLE lexeme_counts
  ADD COLUMN reversed text COLLATE "C" NOT NULL GENERATED ALWAYS AS (reverse(lexeme)) STORED,
  ADD CONSTRAINT lexeme_counts_some CHECK (documents >= 0),
  SET (fillfactor = 80);
CREATE INDEX lexeme_counts_ending ON lexeme_counts (scope_ref, reversed);
CREATE INDEX lexeme_counts_alike ON lexeme_counts USING gin (scope_ref, lexeme gin_trgm_ops);

-- Whoever makes, indexes or removes projections of a scope does so alone, until their transaction ends: counts stay
-- right, and two never wait for each other in a ring.
CREATE FUNCTION world_lock_projections(scope text) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  SELECT pg_advisory_xact_lock(hashtextextended('projections ' || scope, 0))
$$;

-- Take projections out of the counts under which they were counted, and out of the postings. Under the caller's
-- policies; the caller holds the scope's lock.
CREATE FUNCTION world_unindex(gone uuid[]) RETURNS void
LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  UPDATE lexeme_counts c SET documents = c.documents - old.documents
  FROM (SELECT p.scope_ref, p.indexed_classification, t.lexeme, count(*)::int AS documents
        FROM memory_projections p CROSS JOIN unnest(p.lexemes) AS t (lexeme)
        WHERE p.id = ANY (gone) AND p.indexed_classification IS NOT NULL GROUP BY 1, 2, 3) old
  WHERE c.scope_ref = old.scope_ref AND c.classification = old.indexed_classification AND c.lexeme = old.lexeme;
  DELETE FROM lexeme_counts c
  USING (SELECT DISTINCT p.scope_ref, p.indexed_classification, t.lexeme
         FROM memory_projections p CROSS JOIN unnest(p.lexemes) AS t (lexeme)
         WHERE p.id = ANY (gone) AND p.indexed_classification IS NOT NULL) old
  WHERE c.scope_ref = old.scope_ref AND c.classification = old.indexed_classification AND c.lexeme = old.lexeme
    AND c.documents = 0;
  UPDATE projection_counts c SET projections = c.projections - old.projections, length = c.length - old.length
  FROM (SELECT p.scope_ref, p.indexed_classification, p.source_kind, count(*)::int AS projections,
               sum(p.length) AS length
        FROM memory_projections p
        WHERE p.id = ANY (gone) AND p.indexed_classification IS NOT NULL GROUP BY 1, 2, 3) old
  WHERE c.scope_ref = old.scope_ref AND c.classification = old.indexed_classification
    AND c.source_kind = old.source_kind;
  DELETE FROM projection_terms WHERE id = ANY (gone);
  UPDATE memory_projections SET indexed_classification = NULL, terms_pending = true
  WHERE id = ANY (gone) AND indexed_classification IS NOT NULL;
END $$;

-- Who may see a statement changes: in the same transaction its projections follow, and are found by nobody until they
-- have been indexed again. TG_ARGV: the kinds of projections that a row of the table has. Runs as `definer`: so may
-- the act that changed the row.
CREATE FUNCTION world_follow_classification() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  moved uuid[];
BEGIN
  PERFORM world_lock_projections(NEW.scope_ref);
  SELECT array_agg(id) INTO moved FROM memory_projections
  WHERE scope_ref = NEW.scope_ref AND source_kind = ANY (TG_ARGV) AND source_id = NEW.id;
  IF moved IS NULL THEN
    RETURN NULL;
  END IF;
  PERFORM world_unindex(moved);
  DELETE FROM projection_vectors WHERE id = ANY (moved);
  UPDATE memory_projections
  SET classification = NEW.classification, terms_pending = true, vector_pending = true, vector_attempts = 0
  WHERE id = ANY (moved);
  INSERT INTO work AS w (kind, scope_ref, due_at, seq, attempts, dedupe_key, last_error)
  VALUES ('index', NEW.scope_ref, clock_timestamp(), 1, 0, '', '')
  ON CONFLICT (kind, scope_ref, dedupe_key) DO UPDATE
  SET seq = w.seq + 1, due_at = EXCLUDED.due_at, attempts = 0, failed_at = NULL, last_error = '';
  RETURN NULL;
END $$;

CREATE TRIGGER facts_classification AFTER UPDATE OF classification ON facts FOR EACH ROW
  WHEN (OLD.classification <> NEW.classification) EXECUTE FUNCTION world_follow_classification('fact');
CREATE TRIGGER entities_classification AFTER UPDATE OF classification ON entities FOR EACH ROW
  WHEN (OLD.classification <> NEW.classification)
  EXECUTE FUNCTION world_follow_classification('entity', 'entity_live');

-- Before the function changes hands: afterwards the owner may no longer withdraw it.
REVOKE ALL ON FUNCTION world_follow_classification() FROM PUBLIC;
ALTER FUNCTION world_follow_classification() OWNER TO gedaechtnis_definer;
