"""How far a statement may be seen: its scope's owners make it more or less sensitive, nobody else does.

Classification is access, not belief: no row is closed or written, and `world_classify` is the only way to change it.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db import connection
from django.utils.translation import gettext as _

from gedaechtnis.common.problems import Problem
from gedaechtnis.identity import audit
from gedaechtnis.identity.ownership import owns
from gedaechtnis.identity.principals import MAX_CLEARANCE, Principal
from gedaechtnis.memory import events, ports, references
from gedaechtnis.memory.schemas import MemoryType
from gedaechtnis.registry.catalogue import catalogue
from gedaechtnis.scoping import clocks
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import Fact, FactEvidence

_NAMED = ("subject", "object_entity", "applies_to")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity:
    """The classification of a statement, and those its owner may choose; none where it is fixed."""

    level: int
    choices: tuple[int, ...]


def sensitivity_of(*, principal: Principal, fact_id: UUID) -> Sensitivity | None:
    """None for somebody who does not decide about the fact's scope.

    Raises:
        NotFound: missing and foreign alike.
    """
    with scope(principal):
        row = _readable(fact_id)
        if not owns(principal, row.scope_ref):
            return None
        return Sensitivity(level=row.classification, choices=_choices(row))


def classify_fact(*, principal: Principal, fact_id: UUID, level: int) -> None:
    """Change the classification of a statement, with all its pieces and its evidence.

    What tells of it besides (events, the proposal it was, quoted messages) rises with it and never sinks.

    Raises:
        NotFound: missing and foreign alike.
        Problem: `not_owner` (403); `out_of_range` for a level below that of the entities it names, above those of
            policies (always public, so that no run misses one), or beside that of the thing whose name it states.
    """
    with scope(principal):
        scope_ref = _readable(fact_id).scope_ref
    if not owns(principal, scope_ref):
        raise Problem("not_owner", _("Only who owns this place may change how sensitive it is."), 403)
    with scope(principal, write=scope_ref, clearance=MAX_CLEARANCE):
        clocks.lock([scope_ref])
        row = _readable(fact_id)
        if level not in _choices(row):
            raise Problem("out_of_range", _("It cannot be this sensitive, or this little."), field="level")
        if level == row.classification:
            return
        with connection.cursor() as cursor:
            cursor.execute("SELECT world_classify(%s, %s, %s::smallint)", [scope_ref, row.origin_fact_id, level])
        for piece in FactEvidence.objects.filter(fact_id=row.origin_fact_id).exclude(ref=None):
            ports.classify_quoted(scope_ref, piece.ref or "", level)
        audit.record(
            audit.Kind.CLASSIFIED,
            acted_by=principal.acted_by,
            sub=principal.sub,
            token_id=principal.token_id,
            scope=scope_ref,
            fact=str(fact_id),
            change=f"{row.classification}-{level}",
        )
        events.publish_on_commit(scope_ref, events.MEMORY_COMMITTED, [row.subject_id])


def _readable(fact_id: UUID) -> Fact:
    row = Fact.objects.select_related(*_NAMED).filter(pk=fact_id).first()
    if row is None:
        raise references.not_found(str(fact_id))
    return row


def _choices(row: Fact) -> tuple[int, ...]:
    """From the most sensitive entity it names upwards; policies and names stay as they are."""
    named = [entity for entity in (row.subject, row.object_entity, row.applies_to) if entity]
    predicate, kinds = catalogue().predicates.get(row.predicate), catalogue().kinds
    is_policy = row.memory_type == MemoryType.POLICY or (predicate is not None and predicate.privileged)
    if is_policy or row.predicate == "name" or any(e.kind in kinds and kinds[e.kind].privileged for e in named):
        return ()
    return tuple(range(max((entity.classification for entity in named), default=0), MAX_CLEARANCE + 1))
