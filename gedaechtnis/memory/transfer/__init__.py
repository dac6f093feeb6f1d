"""Memory that comes from elsewhere: exports taken in, and tables of facts."""
