"""The built-in extractor: deterministic rules for German and English, used where no model is configured."""

from __future__ import annotations

from curator.extractors.builtin.engine import BuiltinExtractor

__all__ = ["BuiltinExtractor"]
