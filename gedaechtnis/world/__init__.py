"""The graph's tables: entities, aliases, bitemporal facts, evidence, proposals, events."""
