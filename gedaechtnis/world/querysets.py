"""Belief rows as the code that writes them asks for them; questions in time are `memory.selectors.conditions`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models

if TYPE_CHECKING:
    from gedaechtnis.world.models import Fact  # noqa: F401 (named in the string below)


class FactQuerySet(models.QuerySet["Fact"]):
    """Belief rows."""

    def believed(self) -> FactQuerySet:
        """What is believed today, over all valid time."""
        return self.filter(superseded_at__isnull=True)
