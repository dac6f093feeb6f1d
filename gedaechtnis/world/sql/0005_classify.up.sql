-- Classification is access, not belief: of a belief row it may change after all, but by world_classify alone.
CREATE OR REPLACE FUNCTION world_facts_are_immutable() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  closing constant text[] := ARRAY['superseded_at', 'closed_reason', 'closed_by_fact_id', 'reason'];
BEGIN
  IF current_user = 'gedaechtnis_definer' AND to_jsonb(NEW) - 'classification' = to_jsonb(OLD) - 'classification' THEN
    RETURN NEW;
  END IF;
  IF OLD.superseded_at IS NOT NULL OR NEW.superseded_at IS NULL
     OR to_jsonb(NEW) - closing <> to_jsonb(OLD) - closing THEN
    RAISE EXCEPTION 'facts are immutable: only closing, once' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;

-- A statement is an origin with all its pieces and its evidence. What else tells of it (its events, the proposal it
-- was) only rises: it may rest on more. Who may do this is judged by the application; the scope must be open for writing.
CREATE FUNCTION world_classify(scope text, origin uuid, level smallint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF scope IS DISTINCT FROM nullif(current_setting('gedaechtnis.write_scope', true), '') THEN
    RAISE EXCEPTION 'this scope is not open for writing' USING ERRCODE = 'insufficient_privilege';
  END IF;
  UPDATE facts SET classification = level WHERE scope_ref = scope AND origin_fact_id = origin;
  UPDATE fact_evidence SET classification = level WHERE scope_ref = scope AND fact_id = origin;
  UPDATE world_events e SET classification = level FROM facts f
    WHERE f.scope_ref = scope AND f.origin_fact_id = origin
      AND e.id = f.event_id AND e.scope_ref = scope AND e.classification < level;
  UPDATE proposals p SET classification = level FROM facts f
    WHERE f.scope_ref = scope AND f.origin_fact_id = origin
      AND p.scope_ref = scope AND p.fact_id = f.id AND p.classification < level;
END $$;

-- Before the function changes hands: afterwards the owner may no longer grant it.
REVOKE ALL ON FUNCTION world_classify(text, uuid, smallint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION world_classify(text, uuid, smallint) TO gedaechtnis_app;
ALTER FUNCTION world_classify(text, uuid, smallint) OWNER TO gedaechtnis_definer;
