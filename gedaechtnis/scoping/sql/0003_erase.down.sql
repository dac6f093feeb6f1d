DROP FUNCTION scoping_erase(text);
