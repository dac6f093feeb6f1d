DROP FUNCTION world_classify(text, uuid, smallint);

CREATE OR REPLACE FUNCTION world_facts_are_immutable() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  closing constant text[] := ARRAY['superseded_at', 'closed_reason', 'closed_by_fact_id', 'reason'];
BEGIN
  IF OLD.superseded_at IS NOT NULL OR NEW.superseded_at IS NULL
     OR to_jsonb(NEW) - closing <> to_jsonb(OLD) - closing THEN
    RAISE EXCEPTION 'facts are immutable: only closing, once' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
