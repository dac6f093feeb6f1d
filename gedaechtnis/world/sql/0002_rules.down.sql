DROP FUNCTION world_ensure_event_partition(date);
DROP TABLE world_events;
DROP FUNCTION world_uuid7_floor(timestamptz);
DROP TRIGGER entity_aliases_references ON entity_aliases;
DROP TRIGGER facts_references ON facts;
DROP FUNCTION world_check_references();
DROP TRIGGER facts_immutable ON facts;
DROP FUNCTION world_facts_are_immutable();
ALTER TABLE entity_aliases
  DROP CONSTRAINT entity_aliases_no_overlap, DROP CONSTRAINT entity_aliases_valid_interval;
ALTER TABLE facts
  DROP CONSTRAINT facts_no_overlap, DROP CONSTRAINT facts_one_object, DROP CONSTRAINT facts_valid_interval,
  DROP CONSTRAINT facts_belief_interval, DROP CONSTRAINT facts_finite, DROP CONSTRAINT facts_confidence,
  DROP CONSTRAINT facts_closing;
