"""Everything one scope holds, as JSON Lines; the format is described in docs/reference/export.md.

The rows are read in one snapshot into a file of their own, and sent from there: no transaction waits for the one who
takes them, and what arrives was true at one instant.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from tempfile import SpooledTemporaryFile
from typing import IO, Any
from uuid import UUID

from django.db import connection, transaction

from gedaechtnis.common import clock
from gedaechtnis.common.instants import rfc3339
from gedaechtnis.identity import audit, closed_groups
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import MAX_CLEARANCE, Principal, person, system
from gedaechtnis.registry.models import Predicate
from gedaechtnis.scoping import clocks
from gedaechtnis.scoping.context import Scope, scope
from gedaechtnis.scoping.models import ScopedModel
from gedaechtnis.scoping.tables import scoped_models
from gedaechtnis.world.models import Fact, FactEvidence

FORMAT = "gedaechtnis-export"
VERSION = 1
MEDIA_TYPE = "application/jsonl"
IN_HEADER = frozenset({"scope_ref", "org_id"})
"""The same in every row, and another after an import."""
VOCABULARY = ("cardinality", "value_type", "symmetric", "immutable", "ignore_case", "inverse")
"""What decides how facts of a predicate compete."""
_IN_MEMORY = 4 * 1024 * 1024
_ROWS_AT_ONCE = 500


def exported_models() -> list[type[ScopedModel]]:
    """The tables of the file, each behind those its rows point to."""
    return sorted((model for model in scoped_models() if model.exported), key=lambda model: model is FactEvidence)


def export_own(*, principal: Principal) -> IO[bytes]:
    """What the principal's own scope holds, as far as their clearance reaches; the caller closes the file."""
    own = principal.read_scopes[0]
    return _export(principal, own, by=principal)


def export_closed_group(*, user: User, group_id: UUID) -> IO[bytes]:
    """What a closed group of the user's holds; the only way in which it still is read.

    Raises:
        NotFound: missing, open, and not owned by the user alike.
    """
    group = closed_groups.get_closed_group(user=user, group_id=group_id)
    return _export(system(group.scope_ref, "export"), group.scope_ref, by=person(user))


def _export(reader: Principal, scope_ref: str, *, by: Principal) -> IO[bytes]:
    lines = 0
    with ExitStack() as unless_whole:
        file: IO[bytes] = unless_whole.enter_context(SpooledTemporaryFile(max_size=_IN_MEMORY))
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            with scope(reader, clearance=min(reader.clearance, by.clearance)) as opened:
                for line in _lines(opened, scope_ref):
                    file.write(line.encode() + b"\n")
                    lines += 1
        audit.record(
            audit.Kind.EXPORTED,
            acted_by=by.acted_by,
            sub=by.sub,
            token_id=by.token_id,
            scope=scope_ref,
            lines=str(lines),
        )
        unless_whole.pop_all()  # whoever sends it closes it
    file.seek(0)
    return file


def _lines(opened: Scope, scope_ref: str) -> Iterator[str]:
    """The header, one line a row in the order in which they can be written again, and how many there were."""
    tick = clocks.committed([scope_ref]).get(scope_ref)
    header = {
        "format": FORMAT,
        "version": VERSION,
        "scope_kind": scope_ref.partition(":")[0],
        "scope_ref": scope_ref,
        "tick": rfc3339(tick) if tick else None,
        "exported_at": rfc3339(clock.now()),
        "clearance": opened.clearance,
        "predicates": _vocabulary(scope_ref),
    }
    yield json.dumps(header)
    counts: dict[str, int] = {}
    for model in exported_models():
        table = model._meta.db_table
        counts[table] = 0
        for row in _rows(model, opened, scope_ref):
            counts[table] += 1
            yield f'{{"table": "{table}", "row": {row}}}'
    yield json.dumps({"rows": counts})


def _vocabulary(scope_ref: str) -> dict[str, dict[str, Any]]:
    """The registered predicates that facts of the scope use, with what decides how these compete."""
    used = Fact.objects.filter(scope_ref=scope_ref).values("predicate")
    found = Predicate.objects.filter(key__in=used).order_by("key")
    return {term.key: {name: getattr(term, name) for name in VOCABULARY} for term in found}


def _rows(model: type[ScopedModel], opened: Scope, scope_ref: str) -> Iterator[str]:
    """As the database writes them, so that numbers and instants lose nothing on their way through Python.

    An agent takes its own notes along, not those of others.
    """
    columns = ", ".join(f'"{field.column}"' for field in model._meta.concrete_fields if field.column not in IN_HEADER)
    table: Any = model._meta.db_table
    conditions, values = ["scope_ref = %s"], [scope_ref]
    if model.hidden_when and opened.clearance < MAX_CLEARANCE:
        conditions.append(f"NOT {model.hidden_when}")
    if model.owned and not opened.principal.is_person:
        conditions.append("agent = %s")
        values.append(opened.principal.agent_role)
    rows = f'SELECT {columns} FROM "{table}" WHERE {" AND ".join(conditions)} ORDER BY id'  # noqa: S608
    sql = f"SELECT row_to_json(r)::text FROM ({rows}) r"  # noqa: S608
    with connection.chunked_cursor() as cursor:
        cursor.execute(sql, values)
        while found := cursor.fetchmany(_ROWS_AT_ONCE):
            yield from (text for (text,) in found)
