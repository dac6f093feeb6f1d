"""Chats from elsewhere: one parser a vendor, one stream of chats, one way into the tables."""
