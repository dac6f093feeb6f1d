"""Questions in time, as filters on belief rows."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Q

if TYPE_CHECKING:
    from gedaechtnis.world.models import Fact  # noqa: F401 (named in the string below)


class FactQuerySet(models.QuerySet["Fact"]):
    """Half-open on both axes: a row that ends at an instant no longer counts there."""

    def believed(self) -> FactQuerySet:
        """What is believed today, over all valid time."""
        return self.filter(superseded_at__isnull=True)

    def valid_at(self, instant: datetime) -> FactQuerySet:
        """Rows whose interval holds `instant`."""
        return self.filter(Q(valid_to__isnull=True) | Q(valid_to__gt=instant), valid_from__lte=instant)

    def known_at(self, ticks: Mapping[str, datetime]) -> FactQuerySet:
        """What each scope believed at its own tick; scopes not named answer nothing."""
        if not ticks:
            return self.none()
        believed = Q()
        for scope_ref, tick in ticks.items():
            believed |= Q(scope_ref=scope_ref, recorded_at__lte=tick) & (
                Q(superseded_at__isnull=True) | Q(superseded_at__gt=tick)
            )
        return self.filter(believed)

    def overlapping(self, start: datetime, end: datetime) -> FactQuerySet:
        """Rows that share at least one instant with `[start, end)`."""
        return self.filter(Q(valid_to__isnull=True) | Q(valid_to__gt=start), valid_from__lt=end)
