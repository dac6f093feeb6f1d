"""The vocabulary: entity kinds, predicates, event types. Data, extended in the admin."""
