DROP FUNCTION world_find_names_as_definer(text[], uuid, smallint, text[], text, text, smallint, text, uuid, integer);
DROP FUNCTION world_find_names(text[], text, text, smallint, text, uuid, integer);
DROP FUNCTION world_sure_share(text);
ALTER TABLE entity_aliases DROP COLUMN search_key;
ALTER TABLE entities DROP COLUMN search_key;
DROP FUNCTION world_fold(text);
