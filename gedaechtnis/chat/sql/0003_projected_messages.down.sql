DROP TRIGGER messages_classification ON messages;
