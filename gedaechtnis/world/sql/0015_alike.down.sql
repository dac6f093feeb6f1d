DROP FUNCTION world_find_alike_as_definer(uuid, smallint, text[], text[], integer);
DROP FUNCTION world_find_alike(text[], text[], integer);
