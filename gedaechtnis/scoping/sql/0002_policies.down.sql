DROP FUNCTION scoping_may_reference(text, uuid, text);
DROP FUNCTION scoping_protect(regclass);
DROP FUNCTION scoping_keep_identity();
