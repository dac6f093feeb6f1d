"""One row of every scoped table in a scope, written past the policies: the targets of the isolation tests."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import psycopg
from django.contrib.postgres.fields import ArrayField
from django.db import models
from pgvector.django import HalfVectorField

from gedaechtnis.common.ids import uuid7
from gedaechtnis.scoping.models import ScopedModel
from gedaechtnis.scoping.tables import scoped_models

_WHEN = datetime(2026, 1, 1, tzinfo=UTC)
_PLAIN: dict[type[models.Field[Any, Any]], Any] = {
    models.CharField: "x",
    models.TextField: "x",
    models.BooleanField: False,
    models.SmallIntegerField: 1,
    models.IntegerField: 1,
    models.BigIntegerField: 1,
    models.FloatField: 1.0,
    models.DateTimeField: _WHEN,
    models.JSONField: "{}",
    ArrayField: "{}",
    HalfVectorField: "[1]",
}

_CHECKED = {"domain_grants": {"permission": "read"}, "hot_entries": {"state": "hot", "memory_type": "note"}}
"""Columns for which the database does not take any word."""


def insert_everywhere(
    admin: psycopg.Connection[Any], scope_ref: str, *, org_id: UUID | None = None, owner_ref: str = ""
) -> dict[str, UUID]:
    """Insert a row into each scoped table of a scope; returns the ids by table name.

    What belongs to one person is `owner_ref`'s, without one the person's whose scope it is, else a stranger's.
    """
    ids = {model._meta.db_table: uuid7() for model in scoped_models()}
    with admin.transaction():
        for model in scoped_models():
            insert(admin, model, columns(model, scope_ref, ids, org_id=org_id, owner_ref=owner_ref))
    return ids


def insert(admin: psycopg.Connection[Any], model: type[ScopedModel], values: dict[str, Any]) -> None:
    names = ", ".join(f'"{name}"' for name in values)
    marks = ", ".join(["%s"] * len(values))
    admin.execute(f'INSERT INTO "{model._meta.db_table}" ({names}) VALUES ({marks})', list(values.values()))


def columns(
    model: type[ScopedModel], scope_ref: str, ids: dict[str, UUID], *, org_id: UUID | None = None, owner_ref: str = ""
) -> dict[str, Any]:
    """Column values of a plausible row; references point to the other rows in `ids`."""
    values = {field.attname: _value(field, ids) for field in model._meta.concrete_fields}
    values.update(id=ids[model._meta.db_table], scope_ref=scope_ref, org_id=org_id)
    if model.owned:
        values["owner_ref"] = owner_ref or (scope_ref if scope_ref.startswith("user:") else f"user:{uuid7()}")
    if model._meta.db_table == "facts":
        values.update(object_value=json.dumps("x"), origin_fact_id=values["id"], valid_from_precision="day")
    values.update(_CHECKED.get(model._meta.db_table, {}))
    return values


def second_columns(
    model: type[ScopedModel], scope_ref: str, ids: dict[str, UUID], *, org_id: UUID | None = None, owner_ref: str = ""
) -> dict[str, Any]:
    """Column values of a further row beside the one that `ids` names: no unique key stands in its way."""
    values = columns(model, scope_ref, {**ids, model._meta.db_table: uuid7()}, org_id=org_id, owner_ref=owner_ref)
    for name, value in values.items():
        if name == "is_main":
            values[name] = False
        elif name == "seq":
            values[name] = 2
        elif value == "x":
            values[name] = "y"
    if model._meta.db_table in {"curator_states", "episode_marks"}:  # one a chat
        values["chat_id"] = uuid7()
    if model._meta.db_table == "fact_usage":  # one a statement
        values["fact_id"] = uuid7()
    return values


def _value(field: models.Field[Any, Any], ids: dict[str, UUID]) -> Any:
    if field.name == "is_main":
        return True
    if field.null:
        return None
    if field.column in ("subject_id", "entity_id"):
        return ids["entities"]
    if field.column == "chat_id":
        return ids["chats"]
    if field.column == "fact_id":
        return ids["facts"]
    if isinstance(field, models.UUIDField):
        return uuid7()
    return next(value for kind, value in _PLAIN.items() if isinstance(field, kind))
