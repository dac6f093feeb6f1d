"""Reading by fixed statements, and making and storing many protected rows at once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import Any, TypeVar

from django.db import connection, models
from pydantic_core import to_json

from gedaechtnis.scoping.models import ScopedModel

Row = TypeVar("Row", bound=ScopedModel)


def select(model: type[Row], where: str, parameters: Sequence[Any]) -> list[Row]:
    """The rows of one table for a fixed condition of ours, with what follows it (an order).

    For the reads behind every page: Django takes longer to put such a statement together than to run it.
    """
    meta = model._meta
    columns = ", ".join(connection.ops.quote_name(name) for name in _defaults(model))
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {columns} FROM {connection.ops.quote_name(meta.db_table)} WHERE {where}", parameters)  # noqa: S608
        records = cursor.fetchall()
    documents = _documents(model)
    names = list(_defaults(model))
    return [
        model.from_db(
            connection.alias,
            names,
            [json.loads(v) if n in documents and v is not None else v for n, v in enumerate(record)],
        )
        for record in records
    ]


def make(model: type[Row], columns: dict[str, Any]) -> Row:
    """A row that is not stored yet; what is left out gets its default.

    The same as calling the model, but for objects made by the thousand: by place, Django takes half the time.
    """
    return model(*(_defaults(model) | columns).values())


def columns_of(row: ScopedModel) -> dict[str, Any]:
    """The values of a row by the names of its columns."""
    return {name: getattr(row, name) for name in _defaults(type(row))}


def insert(model: type[ScopedModel], rows: Sequence[dict[str, Any]]) -> None:
    """Store new rows, given by column, in one statement; what is left out gets its default, `id` never.

    Values must be those that the columns hold: nothing prepares them, which would cost three times as much as all
    the rest (`make bench-graph`).
    """
    if not rows:
        return
    names = _defaults(model)
    body = to_json([names | row for row in rows]).decode()
    table = connection.ops.quote_name(model._meta.db_table)
    columns = ", ".join(connection.ops.quote_name(name) for name in names)
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} ({columns}) SELECT {columns} FROM json_populate_recordset(NULL::{table}, %s)",  # noqa: S608
            [body],
        )


def insert_made(rows: Sequence[ScopedModel]) -> None:
    """Store new rows of one table in one statement."""
    if rows:
        insert(type(rows[0]), [columns_of(row) for row in rows])
    for row in rows:
        row._state.adding = False


@cache
def _documents(model: type[models.Model]) -> frozenset[int]:
    """The places of the columns that hold JSON, which comes as text."""
    fields = model._meta.concrete_fields
    return frozenset(place for place, field in enumerate(fields) if isinstance(field, models.JSONField))


@cache
def _defaults(model: type[models.Model]) -> dict[str, Any]:
    """What each column holds where nothing is said, in the order of the model's fields. Never to be changed."""
    return {field.attname: None if field.primary_key else field.get_default() for field in model._meta.concrete_fields}
