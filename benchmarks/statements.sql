-- Makes the believed facts of a scope findable by words: eight each, by Zipf's law over a long vocabulary, drawn from
-- the fact's id; those that are findable already stay as they are. Setting: bench.scope.
SET session_replication_role = replica;

WITH worded AS (
  SELECT f.*, ARRAY(
    SELECT DISTINCT 'w' || floor(30 * power(200000 / 30.0, ('x' || substr(md5(f.id::text || k), 1, 8))::bit(32)::bigint
      / 4294967296.0))::int FROM generate_series(1, 8) AS k
  ) AS words
  FROM facts f WHERE f.scope_ref = current_setting('bench.scope') AND f.superseded_at IS NULL AND f.acted_by = 'bench'
)
INSERT INTO memory_projections (id, scope_ref, classification, source_kind, source_id, part, ref, kind, predicate,
  memory_type, entity_ids, speaker, role, session_id, text, valid_from, valid_to, recorded_at, touched_at, recall_count,
  lexemes, counts, length, indexed_classification, terms_pending, vector_pending, vector_attempts)
SELECT id, scope_ref, classification, 'fact', id, 0, 'fact:' || id, 'person', predicate, memory_type,
  ARRAY[subject_id], '', '', '', array_to_string(words, ' '), valid_from, valid_to, recorded_at, recorded_at, 0,
  words, array_fill(1::smallint, ARRAY[cardinality(words)]), cardinality(words), classification, false, false, 0
FROM worded ON CONFLICT DO NOTHING;

RESET session_replication_role;
