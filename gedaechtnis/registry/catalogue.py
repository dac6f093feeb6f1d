"""Reading the registry: one snapshot per process, renewed when it may have changed."""

from __future__ import annotations

import time
from dataclasses import dataclass

from django.utils.translation import gettext as _

from gedaechtnis.common.problems import Problem
from gedaechtnis.registry.models import EntityKind, EventType, Predicate, State

MAX_AGE_SECONDS = 2.0
"""How long a process may go on by the vocabulary of before."""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The vocabulary at one moment."""

    kinds: dict[str, EntityKind]
    predicates: dict[str, Predicate]
    event_types: dict[str, EventType]
    inverses: dict[str, Predicate]
    """Registered relations by the name they have when read from the object."""

    def kind(self, key: str, *, field: str = "kind") -> EntityKind:
        """Raises Problem `unknown_kind` for a kind that nobody registered or that is deprecated."""
        kind = self.kinds.get(key)
        if kind is None or kind.state == State.DEPRECATED:
            raise Problem("unknown_kind", _("There is no entity kind “%(key)s”.") % {"key": key[:60]}, field=field)
        return kind

    def event_type(self, key: str, *, field: str = "event_type") -> EventType:
        """Raises Problem `unknown_event_type`."""
        found = self.event_types.get(key)
        if found is None:
            raise Problem("unknown_event_type", _("There is no event type “%(key)s”.") % {"key": key[:60]}, field=field)
        return found

    def icon(self, kind: str) -> str:
        return self.kinds[kind].icon if kind in self.kinds else "circle"

    def kind_label(self, kind: str) -> str:
        return self.kinds[kind].label if kind in self.kinds else kind

    def predicate_label(self, predicate: str) -> str:
        return self.predicates[predicate].label if predicate in self.predicates else predicate

    def inverse_label(self, predicate: str) -> str:
        """How a relation reads from its object; "" where nobody named that."""
        return self.predicates[predicate].inverse_label if predicate in self.predicates else ""


_cached: tuple[float, Catalogue] | None = None


def catalogue() -> Catalogue:
    """The present vocabulary, at most two seconds old (other processes may add to it)."""
    global _cached
    if _cached is None or time.monotonic() - _cached[0] > MAX_AGE_SECONDS:
        predicates = {predicate.key: predicate for predicate in Predicate.objects.all()}
        loaded = Catalogue(
            kinds={kind.key: kind for kind in EntityKind.objects.all()},
            predicates=predicates,
            event_types={event_type.key: event_type for event_type in EventType.objects.all()},
            inverses={predicate.inverse: predicate for predicate in predicates.values() if predicate.inverse},
        )
        _cached = (time.monotonic(), loaded)
    return _cached[1]


def forget() -> None:
    """Drop the snapshot: the next reader sees what was just registered."""
    global _cached
    _cached = None
