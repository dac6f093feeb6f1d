"""Models that turn texts into vectors: the bundled one, and endpoints that speak OpenAI's format."""
