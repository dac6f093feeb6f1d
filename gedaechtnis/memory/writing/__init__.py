"""One write transaction: what it reads, decides in memory, and stores at its end. Used by `memory.services`."""
