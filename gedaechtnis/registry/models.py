"""Vocabulary tables: the same for everyone, so outside row-level security."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from gedaechtnis.registry import value_schemas


class State(models.TextChoices):
    LOADED = "loaded", _("in use")
    UNREVIEWED = "unreviewed", _("to be reviewed")
    DEPRECATED = "deprecated", _("deprecated")


class Classification(models.IntegerChoices):
    """Who reads what is stated: a principal of at least this clearance."""

    PUBLIC = 0, _("public")
    INTERNAL = 1, _("internal")
    PERSONAL = 2, _("personal")
    SENSITIVE = 3, _("sensitive")


class Term(models.Model):
    """What kinds, predicates and event types have in common."""

    key = models.CharField(_("key"), max_length=200, primary_key=True)
    label_de = models.CharField(_("German label"), max_length=200, blank=True)
    label_en = models.CharField(_("English label"), max_length=200, blank=True)
    description_de = models.CharField(_("German description"), max_length=500, blank=True)
    description_en = models.CharField(_("English description"), max_length=500, blank=True)
    source = models.CharField(_("registered by"), max_length=100, default="core", help_text=_("Who registered it."))
    state = models.CharField(_("state"), max_length=12, choices=State.choices, default=State.LOADED)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.key

    @property
    def label(self) -> str:
        """The label in the reader's language; the key where there is none."""
        german = (get_language() or "").startswith("de")
        return (self.label_de if german else self.label_en) or self.label_en or self.label_de or self.key

    @property
    def description(self) -> str:
        german = (get_language() or "").startswith("de")
        return (self.description_de if german else self.description_en) or self.description_en


class EntityKind(Term):
    icon = models.CharField(_("icon"), max_length=50, default="circle")
    rag = models.BooleanField(
        _("found by search"), default=False, help_text=_("Entities of this kind can be found by search.")
    )
    privileged = models.BooleanField(_("needs a person"), default=False, help_text=_("Changes always need a person."))
    classification = models.SmallIntegerField(
        _("sensitivity"), choices=Classification.choices, default=Classification.INTERNAL
    )
    to_text = models.CharField(_("wording"), max_length=500, blank=True)
    state_schema = models.JSONField(_("JSON Schema of the state"), null=True, blank=True)

    class Meta:
        verbose_name = _("entity kind")
        verbose_name_plural = _("entity kinds")


FROZEN = ("cardinality", "symmetric", "immutable", "ignore_case")
"""Flags of a predicate that decide where beliefs compete: facts are written by them, so they change only with those."""

PREDICATE_KEY = re.compile(r"[A-Za-z][\w.-]*(?::[\w.-]+)*", re.ASCII)


class Predicate(Term):
    class Cardinality(models.TextChoices):
        FUNCTIONAL = "functional", _("one value at a time")
        SET = "set", _("several values at a time")

    class Authority(models.TextChoices):
        PERSON = "person", _("a person decides")
        SOURCE = "source", _("the observing source decides")

    class ValueType(models.TextChoices):
        ANY = "any", _("anything")
        ENTITY = "entity", _("an entity")
        TEXT = "text", _("text")
        NUMBER = "number", _("a number")
        DATE = "date", _("a date")
        TIME = "time", _("a time of day")
        EMAIL = "email", _("an e-mail address")
        PHONE = "phone", _("a telephone number")

    cardinality = models.CharField(
        _("cardinality"), max_length=10, choices=Cardinality.choices, default=Cardinality.SET
    )
    value_type = models.CharField(
        _("type of the value"), max_length=10, choices=ValueType.choices, default=ValueType.ANY
    )
    value_schema = models.JSONField(null=True, blank=True)
    subject_kinds = ArrayField(models.CharField(max_length=100), default=list, blank=True)
    object_kinds = ArrayField(models.CharField(max_length=100), default=list, blank=True)
    inverse = models.CharField(_("name from the object"), max_length=200, blank=True)
    inverse_label_de = models.CharField(_("German label from the object"), max_length=200, blank=True)
    inverse_label_en = models.CharField(_("English label from the object"), max_length=200, blank=True)
    immutable = models.BooleanField(_("never changes"), default=False)
    symmetric = models.BooleanField(_("holds both ways"), default=False)
    transitive = models.BooleanField(_("carries on along a chain"), default=False)
    hierarchical = models.BooleanField(_("makes a hierarchy"), default=False)
    inference_enabled = models.BooleanField(_("may be inferred from"), default=False)
    kinship = models.BooleanField(_("kinship"), default=False)
    ignore_case = models.BooleanField(_("case does not matter"), default=False)
    privileged = models.BooleanField(_("needs a person"), default=False)
    classification = models.SmallIntegerField(
        _("sensitivity"), choices=Classification.choices, default=Classification.INTERNAL
    )
    embed = models.BooleanField(_("found by meaning"), default=True)
    authority = models.CharField(_("who decides"), max_length=10, choices=Authority.choices, default=Authority.PERSON)
    default_memory_type = models.CharField(_("usual type of memory"), max_length=30, blank=True)

    class Meta:
        verbose_name = _("predicate")
        verbose_name_plural = _("predicates")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["inverse"], condition=~models.Q(inverse=""), name="inverse_once"),
        ]

    def clean(self) -> None:
        """What no form field can check by itself. Raises ValidationError."""
        wrong: dict[str, Any] = {}
        if not PREDICATE_KEY.fullmatch(self.key):
            wrong["key"] = _("Letters, digits, “_”, “-” and “.”; a vendor's own begin with its name and a colon.")
        if self.immutable and not self.is_functional:
            wrong["immutable"] = _("What never changes has one value.")
        if self.symmetric and self.inverse:
            wrong["inverse"] = _("What holds both ways has no other name from its object.")
        if self.inverse and Predicate.objects.filter(key=self.inverse).exists():
            wrong["inverse"] = _("This is a predicate of its own.")
        if self.value_schema is not None:
            try:
                value_schemas.check_schema(self.value_schema)
            except ValidationError as error:
                wrong["value_schema"] = error
        if wrong:
            raise ValidationError(wrong)

    @property
    def is_functional(self) -> bool:
        return self.cardinality == self.Cardinality.FUNCTIONAL

    @property
    def starts_unknown(self) -> bool:
        """Whether a statement without a start means "since whenever", not "since now"."""
        return self.immutable or self.kinship

    @property
    def inverse_label(self) -> str:
        """How the relation reads from its object, in the reader's language; "" where nobody named that."""
        if self.symmetric:
            return self.label
        german = (get_language() or "").startswith("de")
        return (self.inverse_label_de if german else self.inverse_label_en) or self.inverse_label_en


class EventType(Term):
    class Meta:
        verbose_name = _("event type")
        verbose_name_plural = _("event types")
