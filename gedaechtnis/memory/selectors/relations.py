"""How things hang together: who is around an entity, and which facts held at the same time."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from gedaechtnis.common.instants import shown
from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory import references
from gedaechtnis.memory.answers import Neighbor, NeighborsAnswer, OverlapAnswer, Together
from gedaechtnis.memory.selectors import identity, moments, views
from gedaechtnis.memory.selectors.conditions import Conditions
from gedaechtnis.memory.selectors.moments import Basis, Moment
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import Entity, Fact

MAX_FACTS = 1000


def neighbors(
    *,
    principal: Principal,
    entity_id: UUID,
    depth: int = 1,
    predicate: str | None = None,
    valid_at: datetime | None = None,
    known_at: datetime | Basis | None = None,
) -> NeighborsAnswer:
    """Entities that relationships lead to within `depth` steps, in either direction, and these relationships.

    Negative facts lead nowhere. After `MAX_FACTS` of them it stops, and the answer is not `complete`.
    """
    with scope(principal):
        moment = moments.settle(principal=principal, valid_at=valid_at, known_at=known_at)
        start = identity.ids_of(entity_id, moment)
        distances = dict.fromkeys(start, 0)
        found: dict[UUID, Fact] = {}
        frontier = list(start)
        for distance in range(1, depth + 1):
            rows = _touching(frontier, moment, predicate, MAX_FACTS + 1 - len(found))
            found.update({row.pk: row for row in rows})
            ends = {id for row in rows for id in (row.subject_id, row.object_entity_id) if id}
            frontier = sorted(ends - set(distances))
            distances.update(dict.fromkeys(frontier, distance))
            if not frontier or len(found) > MAX_FACTS:
                break
        kept = list(found.values())[:MAX_FACTS]
        told = {id for row in kept for id in (row.subject_id, row.object_entity_id) if id}
        entities = Entity.objects.filter(pk__in=told - set(start))
        return NeighborsAnswer(
            neighbors=tuple(
                Neighbor(entity=views.entity_view(entity), distance=distances[entity.pk])
                for entity in sorted(entities, key=lambda one: (distances[one.pk], one.name_key, one.pk))
            ),
            facts=views.fact_views(kept, moment),
            complete=len(found) <= MAX_FACTS,
            valid_at=moment.valid_at,
            known_at=moment.known_at,
            basis=moment.basis,
        )


def _touching(ids: list[UUID], moment: Moment, predicate: str | None, most: int) -> list[Fact]:
    asked = Conditions().that("subject_id = ANY(%s) OR object_entity_id = ANY(%s)", ids, ids)
    asked.known_at(moment).valid_at(moment.valid_at).that("polarity AND object_entity_id IS NOT NULL")
    if predicate:
        asked.that("predicate = %s", predicate)
    return asked.facts(most)


def overlap(
    *, principal: Principal, first_id: UUID, second_id: UUID, known_at: datetime | Basis | None = None
) -> OverlapAnswer:
    """When two statements held together, as known at a moment: each common interval with the two rows that share it.

    Facts are named by any of their rows; all that was believed of the statement at the moment counts.

    Raises:
        NotFound: missing and foreign alike.
    """
    with scope(principal):
        moment = moments.settle(principal=principal, known_at=known_at)
        firsts, seconds = (_pieces(id, moment) for id in (first_id, second_id))
        common = [
            (one, other, max(one.valid_from, other.valid_from), _earlier(one.valid_to, other.valid_to))
            for one in firsts
            for other in seconds
        ]
        shared = [entry for entry in common if entry[3] is None or entry[2] < entry[3]]
        told = {view.id: view for view in views.fact_views({row for entry in shared for row in entry[:2]}, moment)}
        return OverlapAnswer(
            together=tuple(
                Together(first=told[one.pk], second=told[other.pk], valid_from=shown(start), valid_to=end)
                for one, other, start, end in sorted(shared, key=lambda entry: entry[2])
                if one.pk in told and other.pk in told
            ),
            known_at=moment.known_at,
            basis=moment.basis,
        )


def _pieces(fact_id: UUID, moment: Moment) -> list[Fact]:
    row = Fact.objects.filter(pk=fact_id).first()
    if row is None:
        raise references.not_found(str(fact_id))
    asked = Conditions().that("origin_fact_id = %s", row.origin_fact_id).known_at(moment)
    return asked.that("(mirror_of IS NULL) = %s", row.mirror_of is None).facts()  # of a pair, the end that was named


def _earlier(one: datetime | None, other: datetime | None) -> datetime | None:
    return min((end for end in (one, other) if end is not None), default=None)
