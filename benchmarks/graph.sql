-- One scope with bench.first to bench.last things, twenty belief rows each; the same rows on every run.
-- Settings: bench.first, bench.last, bench.scope.
SET session_replication_role = replica;

INSERT INTO scopes (scope_ref, tick, revision, state)
SELECT ref, '2023-01-01', 1, 'open' FROM unnest(ARRAY[current_setting('bench.scope'), 'global']) AS ref
ON CONFLICT DO NOTHING;

INSERT INTO entities (id, scope_ref, classification, kind, slug, canonical_name, name_key, description, status, is_self,
  metadata, pinned, recorded_at, acted_by)
SELECT md5('thing' || i)::uuid, current_setting('bench.scope'), 1, 'person', 'thing-' || i, 'Thing ' || i, 'thing ' || i,
  '', 'active', false, '{}', false, '2020-01-01', 'bench'
FROM generate_series(current_setting('bench.first')::int, current_setting('bench.last')::int) AS i;

-- Four statements changed in 2022 for the time from 2021 on (three rows each), five values of a set, a name, and two
-- relationships to other things.
WITH thing AS (
  SELECT i, md5('thing' || i)::uuid AS id
  FROM generate_series(current_setting('bench.first')::int, current_setting('bench.last')::int) AS i
), row AS (
  SELECT id, 'bench_' || p AS predicate, n, 'value ' || p || n AS value, NULL::uuid AS object, i || '/' || p AS slot
  FROM thing, generate_series(1, 4) AS p, generate_series(1, 3) AS n
  UNION ALL
  SELECT id, 'likes', 0, 'taste ' || (i + p) % 500, NULL, i || '/likes/' || p FROM thing, generate_series(1, 5) AS p
  UNION ALL
  SELECT id, 'name', 0, 'Thing ' || i, NULL, i || '/name' FROM thing
  UNION ALL
  SELECT id, 'colleague_of', 0, NULL, md5('thing' || (i * 7919 + p) % (current_setting('bench.last')::int + 1))::uuid,
    i || '/colleague/' || p
  FROM thing, generate_series(1, 2) AS p
), written AS (
  INSERT INTO facts (id, scope_ref, classification, subject_id, predicate, polarity, object_value, object_entity_id,
    object_key, slot, valid_from, valid_to, valid_from_precision, valid_to_precision, valid_from_stated, valid_to_stated,
    recorded_at, superseded_at, closed_reason, made_at, origin_fact_id, statement, confidence, source,
    source_trust_tier, memory_type, rank, acted_by, domain, topic, event_id)
  SELECT md5(slot || '/' || n)::uuid, current_setting('bench.scope'), 1, id, predicate, true, to_jsonb(value), object,
    md5(coalesce(value, object::text))::uuid, md5(slot)::uuid,
    CASE n WHEN 3 THEN '2021-01-01' ELSE '2019-01-01' END::timestamptz, CASE n WHEN 2 THEN '2021-01-01'::timestamptz END,
    'day', 'day', true, true, CASE WHEN n < 2 THEN '2020-01-01' ELSE '2022-01-01' END::timestamptz,
    CASE n WHEN 1 THEN '2022-01-01'::timestamptz END, CASE n WHEN 1 THEN 'changed' END, '2020-01-01',
    md5(slot || '/' || n)::uuid, 'statement', 1, 'user_assertion', 'trusted', 'user_assertion', 3, 'bench', '', '',
    md5('event')::uuid
  FROM row
  RETURNING id, scope_ref, recorded_at
)
INSERT INTO fact_evidence (id, scope_ref, classification, fact_id, recorded_at, kind, text, source, rank, weight, acted_by)
SELECT md5('evidence' || id)::uuid, scope_ref, 1, id, recorded_at, 'statement', '', 'user_assertion', 3, 1, 'bench'
FROM written;

RESET session_replication_role;
