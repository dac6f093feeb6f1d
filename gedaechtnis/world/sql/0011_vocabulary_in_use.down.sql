DROP TRIGGER registry_predicate_frozen ON registry_predicate;
DROP FUNCTION world_freeze_predicate();
DROP FUNCTION world_follow_predicate(text);
DROP FUNCTION world_kind_usage(text);
DROP FUNCTION world_predicate_usage(text);
