-- As before, and what a model understood with the turn before it forgets that turn when fewer may see it.
SET LOCAL ROLE gedaechtnis_definer;

CREATE OR REPLACE FUNCTION world_follow_classification() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  moved uuid[];
  after uuid[];
BEGIN
  INSERT INTO work AS w (kind, scope_ref, due_at, seq, attempts, dedupe_key, last_error)
  VALUES ('index', NEW.scope_ref, clock_timestamp(), 1, 0, '', '')
  ON CONFLICT (kind, scope_ref, dedupe_key) DO UPDATE
  SET seq = w.seq + 1, due_at = EXCLUDED.due_at, attempts = 0, failed_at = NULL, last_error = '';
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
  IF NEW.classification > OLD.classification THEN
    SELECT array_agg(later.id) INTO after FROM memory_projections this JOIN memory_projections later
      ON later.scope_ref = this.scope_ref AND later.session_id = this.session_id AND later.position > this.position
    WHERE this.id = ANY (moved) AND later.classification < NEW.classification;
    DELETE FROM projection_vectors WHERE id = ANY (after);
    UPDATE memory_projections SET vector_pending = true, vector_attempts = 0 WHERE id = ANY (after);
  END IF;
  RETURN NULL;
END $$;

RESET ROLE;
