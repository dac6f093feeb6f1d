DROP FUNCTION world_follow_merge(uuid);
