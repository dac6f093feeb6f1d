-- What the database itself enforces about facts, aliases and events.

ALTER TABLE facts
  ADD CONSTRAINT facts_no_overlap EXCLUDE USING gist
    (scope_ref WITH =, slot WITH =, tstzrange(valid_from, valid_to) WITH &&) WHERE (superseded_at IS NULL),
  ADD CONSTRAINT facts_one_object CHECK
    ((object_value IS NULL) <> (object_entity_id IS NULL) AND object_value IS DISTINCT FROM 'null'::jsonb),
  ADD CONSTRAINT facts_valid_interval CHECK (valid_to IS NULL OR valid_from < valid_to),
  ADD CONSTRAINT facts_belief_interval CHECK (superseded_at IS NULL OR recorded_at < superseded_at),
  ADD CONSTRAINT facts_finite CHECK (isfinite(valid_from) AND isfinite(coalesce(valid_to, valid_from))),
  ADD CONSTRAINT facts_confidence CHECK (confidence BETWEEN 0 AND 1),
  ADD CONSTRAINT facts_closing CHECK
    ((superseded_at IS NULL) = (closed_reason IS NULL) AND (closed_reason IS NULL OR closed_reason IN
      ('changed', 'corrected', 'ended', 'retracted', 'confirmed', 'merged', 'undone')));

ALTER TABLE entity_aliases
  ADD CONSTRAINT entity_aliases_no_overlap EXCLUDE USING gist
    (scope_ref WITH =, namespace WITH =, key WITH =, entity_id WITH =, tstzrange(valid_from, valid_to) WITH &&)
    WHERE (superseded_at IS NULL),
  ADD CONSTRAINT entity_aliases_valid_interval CHECK (valid_to IS NULL OR valid_from < valid_to);

-- A belief row is closed once; nothing else about it ever changes.
CREATE FUNCTION world_facts_are_immutable() RETURNS trigger
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

CREATE TRIGGER facts_immutable BEFORE UPDATE ON facts FOR EACH ROW EXECUTE FUNCTION world_facts_are_immutable();

-- New assertions name only entities that every reader of the row can read; remainders keep their
-- origin's references. TG_ARGV: the columns to check. Runs as `definer`: it must see what the writer cannot.
CREATE FUNCTION world_check_references() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  col text;
  bad boolean;
BEGIN
  FOREACH col IN ARRAY TG_ARGV LOOP
    EXECUTE format(
      'SELECT EXISTS (SELECT 1 FROM added a LEFT JOIN entities e ON e.id = a.%1$I
         WHERE a.%1$I IS NOT NULL AND coalesce((to_jsonb(a) ->> ''origin_fact_id'')::uuid = a.id, true)
         AND (e.id IS NULL OR NOT scoping_may_reference(a.scope_ref, a.org_id, e.scope_ref)))', col) INTO bad;
    IF bad THEN
      RAISE EXCEPTION 'unknown entity in %.%', TG_TABLE_NAME, col USING ERRCODE = 'foreign_key_violation';
    END IF;
  END LOOP;
  RETURN NULL;
END $$;

ALTER FUNCTION world_check_references() OWNER TO gedaechtnis_definer;
REVOKE ALL ON FUNCTION world_check_references() FROM PUBLIC;

CREATE TRIGGER facts_references AFTER INSERT ON facts REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION world_check_references('subject_id', 'object_entity_id', 'applies_to_id');
CREATE TRIGGER entity_aliases_references AFTER INSERT ON entity_aliases REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION world_check_references('entity_id');

-- Events: append-only, partitioned by month on the time inside the UUIDv7 key.
CREATE TABLE world_events (
  id uuid PRIMARY KEY,
  scope_ref text NOT NULL,
  org_id uuid,
  classification smallint NOT NULL,
  event_type varchar(200) NOT NULL,
  occurred_at timestamptz NOT NULL,
  observed_at timestamptz,
  recorded_at timestamptz NOT NULL,
  source varchar(30) NOT NULL,
  source_trust_tier varchar(10) NOT NULL,
  acted_by text NOT NULL,
  target_entity_id uuid,
  caused_by_event_id uuid,
  causation_kind varchar(10) NOT NULL,
  correlation_id varchar(200) NOT NULL,
  intent text NOT NULL,
  expected_effect jsonb,
  goal_id uuid,
  run_id varchar(200) NOT NULL,
  chat_id uuid,
  tool_call_id varchar(200) NOT NULL,
  automation_id uuid,
  payload jsonb NOT NULL,
  summary text NOT NULL,
  retention_class varchar(20) NOT NULL
) PARTITION BY RANGE (id);

CREATE INDEX world_events_target ON world_events (target_entity_id, occurred_at);
CREATE INDEX world_events_correlation ON world_events (correlation_id);
CREATE INDEX world_events_cause ON world_events (caused_by_event_id);
CREATE INDEX world_events_recorded ON world_events (scope_ref, recorded_at);

-- Holds what no month's partition covers, so that a write never fails for want of one.
CREATE TABLE world_events_other PARTITION OF world_events DEFAULT;
SELECT scoping_protect('world_events_other');

-- The smallest UUIDv7 of an instant: 48 bits of milliseconds, then zeros.
CREATE FUNCTION world_uuid7_floor(instant timestamptz) RETURNS uuid
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT rpad(lpad(to_hex(floor(extract(epoch FROM instant) * 1000)::bigint), 12, '0'), 32, '0')::uuid
$$;

CREATE FUNCTION world_ensure_event_partition(month date) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  first timestamptz := date_trunc('month', month)::timestamp AT TIME ZONE 'UTC';
  following timestamptz := (date_trunc('month', month) + interval '1 month')::timestamp AT TIME ZONE 'UTC';
  partition text := 'world_events_' || to_char(month, 'YYYY_MM');
BEGIN
  -- Called by the application, so bounded: years have no era in a name (a month before Christ would take
  -- that of one to come), and nobody may fill the catalogue with partitions.
  IF month IS NULL OR month NOT BETWEEN '2020-01-01' AND current_date + 366 THEN
    RAISE EXCEPTION 'no partition is kept for %', month USING ERRCODE = 'invalid_parameter_value';
  END IF;
  PERFORM pg_advisory_xact_lock(hashtext('world_ensure_event_partition'));
  IF to_regclass('public.' || partition) IS NOT NULL THEN
    RETURN false;
  END IF;
  EXECUTE format('CREATE TABLE %I PARTITION OF world_events FOR VALUES FROM (%L) TO (%L)',
                 partition, world_uuid7_floor(first), world_uuid7_floor(following));
  PERFORM scoping_protect(format('public.%I', partition)::regclass);
  EXECUTE format('GRANT SELECT ON %I TO gedaechtnis_backup', partition);
  RETURN true;
END $$;

REVOKE ALL ON FUNCTION world_ensure_event_partition(date) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION world_ensure_event_partition(date) TO gedaechtnis_app;
