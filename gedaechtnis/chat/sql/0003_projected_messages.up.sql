-- What somebody learned from a message may make it more sensitive: what it is found by follows at once.
-- The function is `definer`'s, and nobody but whoever makes the trigger may name it, for as long as that takes.
DO $$
DECLARE
  maker constant name := current_user;
BEGIN
  SET LOCAL ROLE gedaechtnis_definer;
  EXECUTE format('GRANT EXECUTE ON FUNCTION world_follow_classification() TO %I', maker);
  RESET ROLE;
  CREATE TRIGGER messages_classification AFTER UPDATE OF classification ON messages FOR EACH ROW
    WHEN (OLD.classification <> NEW.classification) EXECUTE FUNCTION world_follow_classification('episode');
  SET LOCAL ROLE gedaechtnis_definer;
  EXECUTE format('REVOKE EXECUTE ON FUNCTION world_follow_classification() FROM %I', maker);
  RESET ROLE;
END $$;
