-- The vocabulary is everybody's, facts are not: who governs it may know how often a term is used, and nothing else.
CREATE FUNCTION world_predicate_usage(asked text)
RETURNS TABLE (scopes bigint, believed bigint, closed bigint, waiting bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT count(DISTINCT scope_ref), count(*) FILTER (WHERE superseded_at IS NULL),
         count(*) FILTER (WHERE superseded_at IS NOT NULL),
         (SELECT count(*) FROM proposals WHERE state = 'open' AND operation ->> 'predicate' = asked)
  FROM facts WHERE predicate = asked
$$;

CREATE FUNCTION world_kind_usage(asked text) RETURNS TABLE (scopes bigint, entities bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT count(DISTINCT scope_ref), count(*) FROM entities WHERE kind = asked
$$;

-- What decides where beliefs compete cannot change under facts that were written by it. Whoever changes it along with
-- the facts names the predicate in `gedaechtnis.predicate_change` for the transaction.
CREATE FUNCTION world_freeze_predicate() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND (
    (NEW.key, NEW.cardinality, NEW.symmetric, NEW.immutable, NEW.ignore_case, NEW.value_type = 'phone')
      IS NOT DISTINCT FROM
    (OLD.key, OLD.cardinality, OLD.symmetric, OLD.immutable, OLD.ignore_case, OLD.value_type = 'phone')
    OR current_setting('gedaechtnis.predicate_change', true) = OLD.key
  ) THEN
    RETURN NEW;
  END IF;
  IF EXISTS (SELECT 1 FROM facts WHERE predicate = OLD.key) THEN
    RAISE EXCEPTION 'predicate % is in use', OLD.key
      USING ERRCODE = 'object_in_use', HINT = 'manage.py predicate change';
  END IF;
  RETURN CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
END $$;

CREATE TRIGGER registry_predicate_frozen BEFORE UPDATE OR DELETE ON registry_predicate
  FOR EACH ROW EXECUTE FUNCTION world_freeze_predicate();

-- Scopes that believe something of a predicate follow its change by work of their own. Returns how many there are.
CREATE FUNCTION world_follow_predicate(changed text) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  WITH following AS (
    INSERT INTO work AS w (kind, scope_ref, acting_sub, org_id, object_id, due_at, seq, attempts, dedupe_key, last_error)
    SELECT 'follow_predicate', using_it.scope_ref, NULL, NULL, NULL, clock_timestamp(), 1, 0, changed, ''
    FROM (SELECT DISTINCT scope_ref FROM facts WHERE predicate = changed AND superseded_at IS NULL) using_it
    JOIN scopes USING (scope_ref) WHERE scopes.state = 'open'
    ON CONFLICT (kind, scope_ref, dedupe_key) DO UPDATE
    SET seq = w.seq + 1, due_at = EXCLUDED.due_at, attempts = 0, failed_at = NULL, last_error = ''
    RETURNING 1
  )
  SELECT count(*) FROM following
$$;

-- Before the functions change hands: afterwards the owner may no longer grant them.
REVOKE ALL ON FUNCTION world_predicate_usage(text), world_kind_usage(text), world_freeze_predicate(),
  world_follow_predicate(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION world_predicate_usage(text), world_kind_usage(text), world_follow_predicate(text)
  TO gedaechtnis_app;
ALTER FUNCTION world_predicate_usage(text) OWNER TO gedaechtnis_definer;
ALTER FUNCTION world_kind_usage(text) OWNER TO gedaechtnis_definer;
ALTER FUNCTION world_freeze_predicate() OWNER TO gedaechtnis_definer;
ALTER FUNCTION world_follow_predicate(text) OWNER TO gedaechtnis_definer;
