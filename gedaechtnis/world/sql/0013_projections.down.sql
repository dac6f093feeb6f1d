DROP TRIGGER facts_classification ON facts;
DROP TRIGGER entities_classification ON entities;
DROP FUNCTION world_follow_classification();
DROP FUNCTION world_unindex(uuid[]);
DROP FUNCTION world_lock_projections(text);
DROP INDEX lexeme_counts_alike;
ALTER TABLE lexeme_counts DROP COLUMN reversed, DROP CONSTRAINT lexeme_counts_some;
