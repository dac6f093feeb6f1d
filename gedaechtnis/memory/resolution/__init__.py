"""Whom a name means: the ladder from exact to alike, and the question where only a person can say."""

from __future__ import annotations

from gedaechtnis.memory.resolution.ladder import Mention, ResolvedEntity, Step, resolve, resolve_all

__all__ = ["Mention", "ResolvedEntity", "Step", "resolve", "resolve_all"]
