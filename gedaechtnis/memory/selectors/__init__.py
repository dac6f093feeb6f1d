"""Reads: keyword-only functions that open their own scope and return plain views. They never write."""
