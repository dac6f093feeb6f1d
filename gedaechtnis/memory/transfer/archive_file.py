"""An export file read and checked line by line: its form is right before anything of it is written."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from typing import IO, Any
from uuid import UUID

from django.db import models
from django.utils.translation import gettext as _

from gedaechtnis.common import clock
from gedaechtnis.common.instants import UNKNOWN_START
from gedaechtnis.common.problems import Problem
from gedaechtnis.memory.references import as_uuid
from gedaechtnis.memory.selectors.export import FORMAT, IN_HEADER, VERSION, VOCABULARY, exported_models
from gedaechtnis.scoping.models import ScopedModel

MAX_LINE_BYTES = 4 * 1024 * 1024
_TICKS = frozenset({"recorded_at", "superseded_at", "tick", "tick_from", "tick_to", "decided_at"})
_MOST_AHEAD = timedelta(days=1)
"""How far the clock of another installation may go before ours."""
_SOURCE = re.compile(r"(user|group|org):[0-9a-f-]{36}")
_ENTITY_COLUMNS = frozenset({"subject_id", "object_entity_id", "applies_to_id", "entity_id"})

Row = dict[str, Any]
Column = models.Field[Any, Any]


@dataclass(kw_only=True)
class ArchiveFile:
    """The rows of an export, as iterating over it yields them; what else is known of it is true once all were read.

    `outside` are entities that rows name and that are not in the file; `tick` is the latest in it.
    """

    source_ref: str
    predicates: dict[str, dict[str, Any]]
    tick: datetime = UNKNOWN_START
    outside: set[UUID] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)
    _lines: Iterator[tuple[int, dict[str, Any]]]
    _entities: set[UUID] = field(default_factory=set)

    @classmethod
    def open(cls, file: IO[bytes]) -> ArchiveFile:
        """Read the first line.

        Raises:
            Problem: `invalid_export` naming the line; `unknown_version` for a format that is newer than this server's.
        """
        lines = _lines(file)
        number, header = next(lines, (1, {}))
        if header.get("format") != FORMAT or type(header.get("version")) is not int:
            raise _wrong(number, _("This is not an export of Gedächtnis."))
        if not 1 <= header["version"] <= VERSION:
            detail = _("The file has version %(version)s of the format; this server reads up to %(known)s.")
            raise Problem("unknown_version", detail % {"version": header["version"], "known": VERSION})
        source, tick, predicates = header.get("scope_ref"), header.get("tick"), header.get("predicates", {})
        if not isinstance(source, str) or not _SOURCE.fullmatch(source) or not _is_vocabulary(predicates):
            raise _wrong(number, _("The first line is incomplete."))
        read = cls(source_ref=source, predicates=predicates, _lines=lines)
        if tick is not None:
            if not isinstance(tick, str) or not _is_instant(tick):
                raise _wrong(number, _("“%(name)s” cannot be read.") % {"name": "tick"})
            read._meet(number, tick)
        return read

    def __iter__(self) -> Iterator[tuple[str, Row]]:
        """(table, row) of each line.

        Raises:
            Problem: `invalid_export` naming the line, also where the file was cut off or holds more or fewer rows
                than its last line promises.
        """
        number = 1
        for number, line in self._lines:
            if "rows" in line:
                self._finish(number, line["rows"])
                return
            table, row = line.get("table"), line.get("row")
            if not isinstance(table, str) or table not in _columns() or not isinstance(row, dict):
                raise _wrong(number, _("There is no table “%(name)s”.") % {"name": str(table)[:60]})
            self._check(number, table, row)
            self.counts[table] += 1
            yield table, row
        raise _wrong(number, _("The file was cut off: its last line is missing."))

    def _check(self, number: int, table: str, row: Row) -> None:
        known = _columns()[table]
        if unknown := set(row) - set(known):
            raise _wrong(number, _("There is no column “%(name)s”.") % {"name": min(unknown)[:60]})
        if missing := {name for name, column in known.items() if _is_needed(column)} - set(row):
            raise _wrong(number, _("The column “%(name)s” is missing.") % {"name": min(missing)})
        for name, value in row.items():
            if value is None:
                continue
            if not _fits(known[name], value):
                raise _wrong(number, _("“%(name)s” cannot be read.") % {"name": name})
            if name in _TICKS:
                self._meet(number, value)
            if name in _ENTITY_COLUMNS:
                self.outside.add(UUID(value))
        if table == "entities":
            self._entities.add(UUID(row["id"]))

    def _meet(self, number: int, tick: str) -> None:
        at = datetime.fromisoformat(tick)
        if at > clock.now() + _MOST_AHEAD:
            raise _wrong(number, _("It was recorded in the future."))
        self.tick = max(self.tick, at)

    def _finish(self, number: int, promised: Any) -> None:
        if next(self._lines, None) is not None:
            raise _wrong(number, _("There are lines behind the last one."))
        found = {table: self.counts[table] for table in _columns()}
        if not isinstance(promised, dict) or {**dict.fromkeys(found, 0), **promised} != found:
            raise _wrong(number, _("The file does not hold as many rows as its last line says."))
        self.outside -= self._entities


def _lines(file: IO[bytes]) -> Iterator[tuple[int, dict[str, Any]]]:
    number = 0
    while text := file.readline(MAX_LINE_BYTES + 1):
        number += 1
        if len(text) > MAX_LINE_BYTES:
            raise _wrong(number, _("The line is too long."))
        try:
            line = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise _wrong(number, _("It is not JSON.")) from error
        if not isinstance(line, dict) or b"\\u0000" in text:
            raise _wrong(number, _("It is not JSON that can be stored."))
        yield number, line


@cache
def _columns() -> dict[str, dict[str, Column]]:
    """By table: its columns in the file."""
    return {
        model._meta.db_table: {
            name: column for column in model._meta.concrete_fields if (name := str(column.column)) not in IN_HEADER
        }
        for model in exported_models()
    }


def _is_needed(column: Column) -> bool:
    return not column.null and (column.primary_key or not column.has_default()) and not column.blank


def _fits(column: Column, value: Any) -> bool:
    """Whether a value has the form of the column's type; whether it is a sensible one is for the database to say."""
    kind = column.target_field if isinstance(column, models.ForeignKey) else column
    match kind:
        case models.UUIDField():
            return isinstance(value, str) and as_uuid(value) is not None
        case models.DateTimeField():
            return isinstance(value, str) and _is_instant(value)
        case models.BooleanField():
            return isinstance(value, bool)
        case models.IntegerField():
            return type(value) is int
        case models.FloatField():
            return type(value) in {int, float}
        case models.JSONField():
            return True
        case _:
            return isinstance(value, str)


def _is_instant(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def _is_vocabulary(predicates: Any) -> bool:
    return isinstance(predicates, dict) and all(
        isinstance(term, dict) and set(VOCABULARY) <= set(term) for term in predicates.values()
    )


def _wrong(number: int, why: str) -> Problem:
    detail = _("Line %(line)s: %(why)s") % {"line": number, "why": why}
    return Problem("invalid_export", detail, extra={"line": number})


def uuid_columns(model: type[ScopedModel]) -> frozenset[str]:
    """The columns of a table that hold ids of rows."""
    return frozenset(
        str(column.column)
        for column in model._meta.concrete_fields
        if isinstance(column.target_field if isinstance(column, models.ForeignKey) else column, models.UUIDField)
    )
