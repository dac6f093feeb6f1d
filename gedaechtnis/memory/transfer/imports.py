"""Loading facts that somebody else wrote down, through the committer like everything else."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _
from pydantic import ValidationError

from gedaechtnis.common import canonical, clock
from gedaechtnis.common.instants import parse_bound
from gedaechtnis.common.problems import Problem
from gedaechtnis.common.text import name_key
from gedaechtnis.identity import principals
from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory.schemas import (
    AssertRelationship,
    Evidence,
    MemoryMutationProposal,
    MemoryType,
    Operation,
    Outcome,
    Source,
    UpsertEntity,
)
from gedaechtnis.memory.services.commit import commit_proposal
from gedaechtnis.memory.writing import form
from gedaechtnis.memory.writing.entities import read_name
from gedaechtnis.registry import catalogue
from gedaechtnis.registry.models import Predicate

COLUMNS = ("fact_id", "subject", "relation", "object", "valid_from", "valid_to", "source")
CHUNK_ROWS = 60
"""Rows a transaction: each may introduce two entities, and a transaction holds at most 200 operations."""


@dataclass
class ImportReport:
    """How many rows ended how; `refused` lists (fact_id, code, reason)."""

    rows: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    refused: list[tuple[str, str, str]] = field(default_factory=list)

    def count(self, outcome: Outcome) -> None:
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1

    def refuse(self, fact_id: str, code: str, reason: str) -> None:
        self.count(Outcome.REJECTED)
        self.refused.append((fact_id, code, reason))


def read_rows(path: Path) -> Iterator[dict[str, str]]:
    """The rows of a tab-separated file with the columns `COLUMNS`.

    Raises:
        Problem: `invalid_file` if a column is missing or a line cannot be read.
        UnicodeDecodeError: the text is not UTF-8.
    """
    with path.open(encoding="utf-8-sig", newline="") as handle:
        reader = csv.DictReader(handle, delimiter="\t", quoting=csv.QUOTE_NONE)
        missing = set(COLUMNS) - set(reader.fieldnames or ())
        if missing:
            raise Problem(
                "invalid_file", _("The file lacks the columns %(names)s.") % {"names": ", ".join(sorted(missing))}
            )
        try:
            yield from reader
        except csv.Error as error:
            raise Problem("invalid_file", _("Line %(line)s cannot be read.") % {"line": reader.line_num}) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A row whose form is right, as what it introduces and what it states."""

    fact_id: str
    predicate: str
    source: str
    entities: tuple[UpsertEntity, UpsertEntity]
    fact: AssertRelationship


def import_facts(
    *, scope_ref: str, rows: Iterable[dict[str, str]], zone: ZoneInfo, kind: str = "topic"
) -> Iterator[ImportReport]:
    """Import rows into a scope; yields the report so far after each transaction.

    Relations become set predicates `<source>:<relation>`. An empty start is unknown; an empty end
    means it holds to this day. Bare dates are read in `zone`. Run again, nothing is doubled. A row
    that cannot be read or that a rule refuses is reported; the others are imported.

    Raises:
        Problem: `unknown_kind`.
    """
    catalogue.catalogue().kind(kind)
    principal = principals.system(scope_ref, "import")
    report = ImportReport()
    pending = iter(rows)
    while chunk := list(islice(pending, CHUNK_ROWS)):
        report.rows += len(chunk)
        read = list(_readable(chunk, zone, kind, report))
        if read:
            _commit(principal, read, zone, report)
        yield report


def _readable(chunk: list[dict[str, str]], zone: ZoneInfo, kind: str, report: ImportReport) -> Iterator[_Row]:
    """The rows whose form is right; the others are reported as refused."""
    for row in chunk:
        try:
            yield _read(row, zone, kind)
        except Problem as problem:
            report.refuse(row["fact_id"] or "", problem.code, problem.detail)


def _read(row: dict[str, str], zone: ZoneInfo, kind: str) -> _Row:
    """Raises Problem if the row has too few or too many columns, or one of them cannot be read."""
    if None in row or any(row[name] is None for name in COLUMNS):
        raise Problem("invalid_row", _("The row does not have as many columns as the first line."))
    for name in ("subject", "object"):
        read_name(row[name], field=name)
    start = row["valid_from"] or "unknown"
    provenance: dict[str, Any] = {
        "source": Source.OBSERVATION,
        "memory_type": MemoryType.IMPORTED,
    }
    try:
        provenance["evidence"] = Evidence(kind="import", ref=f"{row['source']}:{row['fact_id']}")
        subject, target = (
            UpsertEntity(id_hint=_hint(kind, row[name]), kind=kind, canonical_name=row[name], **provenance)
            for name in ("subject", "object")
        )
        fact = AssertRelationship(
            subject_ref=subject.id_hint,
            predicate=f"{row['source']}:{row['relation']}",
            object_ref=target.id_hint,
            valid_from=start,
            valid_to=row["valid_to"] or None,
            **provenance,
        )
    except ValidationError as error:
        wrong = error.errors()[0]
        raise Problem("invalid_row", f"{wrong['loc'][0]}: {wrong['msg']}") from error
    for op in (subject, target, fact):
        form.check_operation(op, zone=zone)
    begun = start == "unknown" or _began(start, zone)
    return _Row(
        fact_id=row["fact_id"],
        predicate=fact.predicate,
        source=row["source"],
        entities=(subject, target),
        fact=fact.model_copy(update={"still": fact.valid_to is None and begun}),
    )


def _commit(principal: Principal, rows: list[_Row], zone: ZoneInfo, report: ImportReport) -> None:
    register_relations({row.predicate: row.source for row in rows})
    operations: list[Operation] = []
    introduced: set[str] = set()
    for row in rows:
        new = [entity for entity in row.entities if entity.id_hint not in introduced]
        introduced.update(entity.id_hint for entity in new)
        operations += [*new, row.fact]
    result = commit_proposal(
        principal=principal,
        proposal=MemoryMutationProposal(run_id=_run_id(rows), operations=operations),
        scope_ref=principal.default_scope,
        zone=zone,
    )
    outcomes = [
        entry for op, entry in zip(operations, result.results, strict=True) if isinstance(op, AssertRelationship)
    ]
    for row, entry in zip(rows, outcomes, strict=True):
        if entry.code:
            report.refuse(row.fact_id, entry.code, entry.reason or "")
        else:
            report.count(entry.outcome)


def register_relations(relations: dict[str, str]) -> None:
    """Make relations known as set predicates of their source."""
    new = [
        Predicate(key=key, source=source, value_type=Predicate.ValueType.ENTITY)
        for key, source in relations.items()
        if key not in catalogue.catalogue().predicates
    ]
    if new:
        Predicate.objects.bulk_create(new, ignore_conflicts=True)
        catalogue.forget()


def _began(start: str, zone: ZoneInfo) -> bool:
    bound = parse_bound(start, zone=zone, field="valid_from")
    return bound is not None and bound.at <= clock.now()


def _hint(kind: str, name: str) -> str:
    """Stands for a name within one transaction; no slug looks like it, so that it never means another entity."""
    return f"{kind}:#{canonical.digest(name_key(name) or name)}"


def _run_id(rows: list[_Row]) -> str:
    """The same rows make the same run, so importing again is recognised."""
    return f"import-{canonical.digest(*(op.model_dump_json() for row in rows for op in (*row.entities, row.fact)))}"
