"""Gedächtnis: a self-hosted, bitemporal memory for personal agents."""
