"""Live notices over WebSocket: after a commit, ids go to everyone who may read the scope. Never content."""
