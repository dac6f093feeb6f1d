"""Recall: what a question finds among facts, entities and conversations."""
