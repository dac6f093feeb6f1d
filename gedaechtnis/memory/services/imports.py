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

from gedaechtnis.common import canonical, clock
from gedaechtnis.common.instants import parse_bound
from gedaechtnis.common.problems import Problem
from gedaechtnis.identity import principals
from gedaechtnis.memory.schemas import (
    AssertRelationship,
    Evidence,
    MemoryMutationProposal,
    MemoryType,
    Operation,
    Source,
    UpsertEntity,
)
from gedaechtnis.memory.services.commit import commit_proposal
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


def read_rows(path: Path) -> Iterator[dict[str, str]]:
    """The rows of a tab-separated file with the columns `COLUMNS`.

    Raises:
        Problem: `invalid_file` if a column is missing or the text is not UTF-8.
    """
    with path.open(encoding="utf-8", newline="") as handle:
        reader = csv.DictReader(handle, delimiter="\t", quoting=csv.QUOTE_NONE)
        missing = set(COLUMNS) - set(reader.fieldnames or ())
        if missing:
            raise Problem(
                "invalid_file", _("The file lacks the columns %(names)s.") % {"names": ", ".join(sorted(missing))}
            )
        yield from reader


def import_facts(
    *, scope_ref: str, rows: Iterable[dict[str, str]], zone: ZoneInfo, kind: str = "topic"
) -> Iterator[ImportReport]:
    """Import rows into a scope; yields the report so far after each transaction.

    Relations become set predicates `<source>:<relation>`. An empty start is unknown; an empty end
    means it holds to this day. Bare dates are read in `zone`. Run again, nothing is doubled.
    """
    principal = principals.system(scope_ref, "import")
    report = ImportReport()
    pending = iter(rows)
    while chunk := list(islice(pending, CHUNK_ROWS)):
        register_relations({f"{row['source']}:{row['relation']}": row["source"] for row in chunk})
        operations = list(_operations(chunk, zone, kind))
        facts = [op for op in operations if isinstance(op, AssertRelationship)]
        result = commit_proposal(
            principal=principal,
            proposal=MemoryMutationProposal(run_id=_run_id(chunk), operations=operations),
            scope_ref=scope_ref,
            zone=zone,
        )
        outcomes = [
            entry for op, entry in zip(operations, result.results, strict=True) if isinstance(op, AssertRelationship)
        ]
        for row, entry in zip(chunk, outcomes, strict=True):
            report.outcomes[entry.outcome] = report.outcomes.get(entry.outcome, 0) + 1
            if entry.code:
                report.refused.append((row["fact_id"], entry.code, entry.reason or ""))
        report.rows += len(facts)
        yield report


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


def _operations(chunk: list[dict[str, str]], zone: ZoneInfo, kind: str) -> Iterator[Operation]:
    introduced: set[str] = set()
    now = clock.now()
    for row in chunk:
        for name in (row["subject"], row["object"]):
            if name not in introduced:
                introduced.add(name)
                yield UpsertEntity(id_hint=_hint(kind, name), kind=kind, canonical_name=name, **_provenance(row))
        start = row["valid_from"] or "unknown"
        begun = start == "unknown" or _began(start, zone, now)
        yield AssertRelationship(
            subject_ref=_hint(kind, row["subject"]),
            predicate=f"{row['source']}:{row['relation']}",
            object_ref=_hint(kind, row["object"]),
            valid_from=start,
            valid_to=row["valid_to"] or None,
            still=not row["valid_to"] and begun,
            **_provenance(row),
        )


def _began(start: str, zone: ZoneInfo, now: Any) -> bool:
    bound = parse_bound(start, zone=zone, field="valid_from")
    return bound is not None and bound.at <= now


def _hint(kind: str, name: str) -> str:
    return f"{kind}:{name.lower()}"


def _provenance(row: dict[str, str]) -> dict[str, Any]:
    return {
        "source": Source.OBSERVATION,
        "memory_type": MemoryType.IMPORTED,
        "evidence": Evidence(kind="import", ref=f"{row['source']}:{row['fact_id']}"),
    }


def _run_id(chunk: list[dict[str, str]]) -> str:
    """The same rows make the same run, so importing again is recognised."""
    return f"import-{canonical.digest(*('|'.join(row[name] or '' for name in COLUMNS) for row in chunk))}"
