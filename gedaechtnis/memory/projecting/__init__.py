"""Makes what search reads: texts from memory, their words, their vectors."""

from __future__ import annotations
