-- The same rows on every run: names made of syllables, chosen by digests of their number.
-- Settings: bench.count names, bench.scopes and bench.ends (where each scope ends, as a share), bench.hot (with facts).
SET session_replication_role = replica;

INSERT INTO scopes (scope_ref, tick, revision, state)
SELECT ref, now(), 1, 'open' FROM unnest(current_setting('bench.scopes')::text[] || 'global'::text) AS ref
ON CONFLICT DO NOTHING;

WITH made_of AS (
  SELECT string_to_array('Anna Bernd Claudia Dieter Emil Franziska Günther Hannelore Ingo Jürgen Katharina Ludwig '
    'Margarethe Norbert Ottilie Peter Quirin Rosemarie Sabine Thomas Ulrike Viktor Wolfgang Xenia Yvonne', ' ') AS first,
    string_to_array('ba del kor min rat sol ver gun hol pen tis mar lux nor fel drä kes wim jol zug bri ant eck öst '
    'ull ing sta gre pfo schne', ' ') AS part
), digits AS (
  SELECT i, ('x' || substr(md5(i::text), 1, 7))::bit(28)::int AS a, ('x' || substr(md5(i::text), 8, 7))::bit(28)::int AS b
  FROM generate_series(0, current_setting('bench.count')::int - 1) AS i
), named AS (
  SELECT i, first[1 + a % 25] || ' ' || initcap(part[1 + b % 30] || part[1 + b / 30 % 30] || part[1 + b / 900 % 30])
    || CASE a / 25 % 3 WHEN 0 THEN '' ELSE '-' || initcap(part[1 + a / 75 % 30] || part[1 + a / 2250 % 30]) END AS name
  FROM digits, made_of
)
INSERT INTO entities (id, scope_ref, classification, kind, slug, canonical_name, name_key, description, status, is_self,
  metadata, pinned, recorded_at, acted_by)
SELECT md5(i::text)::uuid, (current_setting('bench.scopes')::text[])[1 + width_bucket(
    i::float8 / current_setting('bench.count')::int, current_setting('bench.ends')::float8[])],
  1, CASE WHEN i % 10 = 0 THEN 'place' ELSE 'person' END, 'n' || i, name, replace(lower(name), '-', ' '), '', 'active', false, '{}', false, '2020-01-01', 'bench'
FROM named;

INSERT INTO entity_aliases (id, scope_ref, classification, entity_id, alias, key, namespace, valid_from, recorded_at,
  source, rank, acted_by)
SELECT md5('alias' || id)::uuid, scope_ref, 1, id, 'Spitz ' || slug, 'spitz ' || slug, 'name', '2020-01-01', '2020-01-01',
  'user_stated', 3, 'bench'
FROM entities WHERE hashtext(slug) % 10 = 0;

-- Twelve predicates of some entities, each said anew in 2022 for the time from 2021 on.
WITH chosen AS (SELECT id, scope_ref FROM entities WHERE scope_ref = current_setting('bench.hot') ORDER BY id LIMIT 5000),
said AS (
  SELECT c.id AS subject, c.scope_ref, p, n, md5(c.id || '/' || p || '/' || n)::uuid AS fact, md5(c.id || '/' || p)::uuid AS slot
  FROM chosen AS c, generate_series(1, 12) AS p, generate_series(1, 3) AS n
)
INSERT INTO facts (id, scope_ref, classification, subject_id, predicate, polarity, object_value, object_key, slot,
  valid_from, valid_to, valid_from_precision, valid_to_precision, valid_from_stated, valid_to_stated, recorded_at,
  superseded_at, closed_reason, made_at, origin_fact_id, statement, confidence, source, source_trust_tier, memory_type,
  rank, acted_by, domain, topic, event_id)
SELECT fact, scope_ref, 1, subject, 'bench_' || p, true, to_jsonb('value ' || n), md5('value ' || n)::uuid, slot,
  CASE n WHEN 3 THEN '2021-01-01' ELSE '2019-01-01' END::timestamptz, CASE n WHEN 2 THEN '2021-01-01'::timestamptz END,
  'day', 'day', true, true, CASE n WHEN 1 THEN '2020-01-01' ELSE '2022-01-01' END::timestamptz,
  CASE n WHEN 1 THEN '2022-01-01'::timestamptz END, CASE n WHEN 1 THEN 'changed' END, '2020-01-01', fact, 'statement ' || n,
  1, 'user_stated', 'trusted', 'semantic', 3, 'bench', '', '', md5('event')::uuid
FROM said;

RESET session_replication_role;
