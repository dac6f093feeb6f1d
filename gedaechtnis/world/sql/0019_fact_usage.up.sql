-- How a statement is used is as sensitive as the statement. A proposal repeats what is believed in its slot, so it also rises with what it was judged against.
SET LOCAL ROLE gedaechtnis_definer;

CREATE OR REPLACE FUNCTION world_classify(scope text, origin uuid, level smallint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF scope IS DISTINCT FROM nullif(current_setting('gedaechtnis.write_scope', true), '') THEN
    RAISE EXCEPTION 'this scope is not open for writing' USING ERRCODE = 'insufficient_privilege';
  END IF;
  UPDATE facts SET classification = level WHERE scope_ref = scope AND origin_fact_id = origin;
  UPDATE fact_evidence SET classification = level WHERE scope_ref = scope AND fact_id = origin;
  UPDATE fact_usage SET classification = level WHERE scope_ref = scope AND fact_id = origin;
  UPDATE world_events e SET classification = level FROM facts f
    WHERE f.scope_ref = scope AND f.origin_fact_id = origin
      AND e.id = f.event_id AND e.scope_ref = scope AND e.classification < level;
  UPDATE proposals p SET classification = level FROM facts f
    WHERE f.scope_ref = scope AND f.origin_fact_id = origin
      AND p.scope_ref = scope AND p.classification < level
      AND (p.fact_id = f.id OR p.built_on @> to_jsonb(f.id::text));
END $$;

RESET ROLE;
