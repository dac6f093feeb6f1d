from __future__ import annotations

from typing import ClassVar, TypeVar

from django.contrib import admin

from gedaechtnis.registry.models import EntityKind, EventType, Predicate, Term

T = TypeVar("T", bound=Term)


class TermAdmin(admin.ModelAdmin[T]):
    """Terms are deprecated, not deleted: facts keep naming them."""

    search_fields = ("key", "label_de", "label_en")
    list_filter: ClassVar[tuple[str, ...]] = ("state", "source")

    def has_delete_permission(self, request: object, obj: T | None = None) -> bool:
        return False


@admin.register(EntityKind)
class EntityKindAdmin(TermAdmin[EntityKind]):
    list_display = ("key", "label_de", "label_en", "rag", "privileged", "classification", "state")


@admin.register(Predicate)
class PredicateAdmin(TermAdmin[Predicate]):
    list_display = ("key", "label_de", "label_en", "cardinality", "value_type", "authority", "classification", "state")
    list_filter: ClassVar[tuple[str, ...]] = ("state", "cardinality", "value_type", "privileged", "source")


@admin.register(EventType)
class EventTypeAdmin(TermAdmin[EventType]):
    list_display = ("key", "label_de", "label_en", "state")
