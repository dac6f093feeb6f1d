"""Conversations: chats, messages, runs, review messages, and the agent people talk to."""
