-- Postings and counts of every projection of a scope that has none yet. Setting: bench.scope.
DELETE FROM lexeme_counts WHERE scope_ref = current_setting('bench.scope');
DELETE FROM projection_counts WHERE scope_ref = current_setting('bench.scope');

INSERT INTO projection_terms (id, scope_ref, classification, lexeme, is_current, weight)
SELECT p.id, p.scope_ref, p.classification, t.lexeme, true,
  -- As the product weighs a word in a text of usual length.
  round(1000 * t.count * 2.2 / (t.count + 1.2 * (0.25 + 0.75 * p.length / 13.0)))
FROM memory_projections p CROSS JOIN unnest(p.lexemes, p.counts) AS t (lexeme, count)
WHERE p.scope_ref = current_setting('bench.scope')
ON CONFLICT DO NOTHING;

INSERT INTO lexeme_counts (id, scope_ref, classification, lexeme, documents)
SELECT gen_random_uuid(), p.scope_ref, p.classification, t.lexeme, count(*)
FROM memory_projections p CROSS JOIN unnest(p.lexemes) AS t (lexeme)
WHERE p.scope_ref = current_setting('bench.scope') GROUP BY 2, 3, 4;

INSERT INTO projection_counts (id, scope_ref, classification, source_kind, projections, length)
SELECT gen_random_uuid(), p.scope_ref, p.classification, p.source_kind, count(*), sum(p.length)
FROM memory_projections p WHERE p.scope_ref = current_setting('bench.scope') GROUP BY 2, 3, 4;
