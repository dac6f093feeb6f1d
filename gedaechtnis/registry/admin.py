"""Governing the vocabulary: terms are added, put right, deprecated. Whoever does it sees counts, and no memory."""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

from django import forms
from django.contrib import admin, messages
from django.db.models import JSONField, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from gedaechtnis.registry import catalogue, usage
from gedaechtnis.registry.changes import announce, announce_findable
from gedaechtnis.registry.models import FROZEN, EntityKind, EventType, Predicate, State, Term

T = TypeVar("T", bound=Term)

_WORDS = ("label_de", "label_en", "description_de", "description_en")
_TOLD = ("source", "where_used")
"""Told of a term, never filled in: who made it and how often it is used, nothing of what is remembered."""


class TermForm(forms.ModelForm[T]):
    """People read terms in both languages."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("label_de", "label_en"):
            self.fields[name].required = True


class OptionalJSON(forms.JSONField):
    """Without a value the field is empty, where the framework would show `null`."""

    def prepare_value(self, value: Any) -> Any:
        return "" if value is None else super().prepare_value(value)


class TermAdmin(admin.ModelAdmin[T]):
    """Terms are deprecated, not deleted: facts keep naming them."""

    form: type[forms.ModelForm[T]] = TermForm
    search_fields = ("key", "label_de", "label_en")
    list_filter: ClassVar[tuple[str, ...]] = ("state", "source")
    ordering = ("key",)
    decides_what_is_found: ClassVar[tuple[str, ...]] = ()
    """Fields by whose change search finds something else."""
    formfield_overrides: ClassVar = {JSONField: {"form_class": OptionalJSON}}
    actions = ("deprecate", "take_into_use")

    def get_readonly_fields(self, request: HttpRequest, obj: T | None = None) -> tuple[str, ...]:
        return () if obj is None else ("key", *_TOLD)

    def get_fieldsets(self, request: HttpRequest, obj: T | None = None) -> Any:
        """Nothing can be told of a term yet while it is being added."""
        fieldsets = super().get_fieldsets(request, obj)
        if obj is not None:
            return fieldsets
        return [
            (title, {**options, "fields": [name for name in options["fields"] if name not in _TOLD]})
            for title, options in fieldsets
        ]

    def has_delete_permission(self, request: HttpRequest, obj: T | None = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: T, form: Any, change: bool) -> None:
        if not change:
            obj.source = "admin"
        super().save_model(request, obj, form, change)
        catalogue.forget()
        if change and set(form.changed_data) & set(self.decides_what_is_found):
            announce_findable()

    @admin.action(description=gettext_lazy("Deprecate: what exists stays, nothing new is made with it"))
    def deprecate(self, request: HttpRequest, queryset: QuerySet[T]) -> None:
        self._put(request, queryset, State.DEPRECATED)

    @admin.action(description=gettext_lazy("Take into use"))
    def take_into_use(self, request: HttpRequest, queryset: QuerySet[T]) -> None:
        self._put(request, queryset, State.LOADED)

    def _put(self, request: HttpRequest, queryset: QuerySet[T], state: State) -> None:
        terms = list(queryset.exclude(state=state))
        for term in terms:
            term.state = state
            term.save(update_fields=["state"])
            self.log_change(request, term, f"state: {state}")
            catalogue.forget()
        told = ngettext("%(count)s term is “%(state)s” now.", "%(count)s terms are “%(state)s” now.", len(terms))
        self.message_user(request, told % {"count": len(terms), "state": state.label}, messages.SUCCESS)


@admin.register(EntityKind)
class EntityKindAdmin(TermAdmin[EntityKind]):
    list_display = ("key", "label_de", "label_en", "rag", "privileged", "classification", "state")
    decides_what_is_found = ("rag", "label_de", "label_en")
    fieldsets = (
        (None, {"fields": ("key", *_WORDS, "icon", "state", "where_used")}),
        (
            gettext_lazy("Rules"),
            {"fields": ("rag", "privileged", "classification", "to_text", "state_schema", "source")},
        ),
    )

    @admin.display(description=gettext_lazy("Where it is used"))
    def where_used(self, term: EntityKind) -> str:
        found = usage.of_kind(term.key)
        return _("%(entities)s things in %(scopes)s memories") % {"entities": found.entities, "scopes": found.scopes}


def _kinds() -> list[tuple[str, str]]:
    return [(kind.key, f"{kind.label} ({kind.key})") for kind in EntityKind.objects.order_by("key")]


class PredicateForm(TermForm[Predicate]):
    subject_kinds = forms.MultipleChoiceField(
        choices=_kinds,
        required=False,
        widget=forms.SelectMultiple(attrs={"size": 8}),
        label=gettext_lazy("Kinds it is said of"),
        help_text=gettext_lazy("None chosen: all."),
    )
    object_kinds = forms.MultipleChoiceField(
        choices=_kinds,
        required=False,
        widget=forms.SelectMultiple(attrs={"size": 8}),
        label=gettext_lazy("Kinds it points to"),
        help_text=gettext_lazy("None chosen: all."),
    )
    value_schema = OptionalJSON(
        required=False,
        label=gettext_lazy("JSON Schema of the value"),
        help_text=gettext_lazy("A value that does not fit is refused, with the reason."),
        widget=forms.Textarea(attrs={"rows": 6}),
    )


@admin.register(Predicate)
class PredicateAdmin(TermAdmin[Predicate]):
    form = PredicateForm
    decides_what_is_found = ("embed",)
    list_display = ("key", "label_de", "label_en", "state")
    list_filter: ClassVar[tuple[str, ...]] = ("state", "cardinality", "value_type", "privileged", "source")
    fieldsets = (
        (None, {"fields": ("key", *_WORDS, "state", "where_used")}),
        (
            gettext_lazy("Value"),
            {"fields": ("cardinality", "value_type", "value_schema", "ignore_case", "immutable", "subject_kinds")},
        ),
        (
            gettext_lazy("Relation"),
            {
                "fields": (
                    "object_kinds",
                    "inverse",
                    "inverse_label_de",
                    "inverse_label_en",
                    "symmetric",
                    "transitive",
                    "hierarchical",
                    "kinship",
                )
            },
        ),
        (
            gettext_lazy("Rules"),
            {
                "fields": (
                    "authority",
                    "classification",
                    "privileged",
                    "inference_enabled",
                    "embed",
                    "default_memory_type",
                    "source",
                )
            },
        ),
    )

    def get_readonly_fields(self, request: HttpRequest, obj: Predicate | None = None) -> tuple[str, ...]:
        fields = super().get_readonly_fields(request, obj)
        return (*fields, *FROZEN) if obj is not None and usage.of_predicate(obj.key).is_used else fields

    def save_model(self, request: HttpRequest, obj: Predicate, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if not change or set(form.changed_data) & {*FROZEN, "value_type"}:
            announce(obj.key)

    @admin.display(description=gettext_lazy("Where it is used"))
    def where_used(self, term: Predicate) -> str:
        found = usage.of_predicate(term.key)
        counted = _(
            "%(believed)s facts believed, %(closed)s no longer, %(waiting)s waiting, in %(scopes)s memories"
        ) % {"believed": found.believed, "closed": found.closed, "waiting": found.waiting, "scopes": found.scopes}
        if not found.is_used:
            return counted
        frozen = _(
            "Cardinality, symmetry, immutability and case are frozen: “%(command)s” changes them with the facts."
        )
        return f"{counted}. {frozen % {'command': f'manage.py predicate change {term.key}'}}"


@admin.register(EventType)
class EventTypeAdmin(TermAdmin[EventType]):
    list_display = ("key", "label_de", "label_en", "state")
    fieldsets = ((None, {"fields": ("key", *_WORDS, "state", "source")}),)
