DROP FUNCTION world_clear_for_import(text);
