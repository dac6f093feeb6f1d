"""Writes: named, keyword-only functions with an acting principal, one transaction, one event per operation."""
