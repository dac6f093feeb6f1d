"""The graph voice: facts along two steps from where the question and the strongest hits stand."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from django.db import connection

from gedaechtnis.memory.selectors.conditions import Conditions
from gedaechtnis.memory.selectors.moments import Moment
from gedaechtnis.memory.selectors.recall import weights
from gedaechtnis.registry.catalogue import catalogue

_STEPS = 2


def walk(seeds: Mapping[UUID, float], moment: Moment) -> dict[UUID, float]:
    """Facts near the seeds (entity → strength, 0 to 1), with their nearness; one statement per step.

    Only relations that the registry lets be inferred from lead on; what else is known of an entity is near, and ends
    there. Negative facts lead nowhere.
    """
    leading = {key for key, predicate in catalogue().predicates.items() if predicate.inference_enabled}
    reached = dict(seeds)
    frontier = dict(seeds)
    found: dict[UUID, float] = {}
    for _ in range(_STEPS):
        if not frontier:
            break
        further: dict[UUID, float] = {}
        for fact_id, subject, target, predicate in _touching(list(frontier), moment):
            strength = max(frontier.get(end, 0.0) for end in (subject, target) if end is not None)
            found[fact_id] = max(found.get(fact_id, 0.0), strength)
            if target is None or predicate not in leading:
                continue
            for end in (subject, target):
                if end not in reached:
                    further[end] = max(further.get(end, 0.0), strength * weights.STEP)
        reached |= further
        frontier = further
    nearest = sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))[: weights.WALKED]
    return dict(nearest)


def _touching(ids: list[UUID], moment: Moment) -> list[tuple[UUID, UUID, UUID | None, str]]:
    asked = Conditions().that("subject_id = ANY(%s) OR object_entity_id = ANY(%s)", ids, ids)
    asked.known_at(moment).valid_at(moment.valid_at).that("polarity AND mirror_of IS NULL")
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT id, subject_id, object_entity_id, predicate FROM facts WHERE {asked.text} "  # noqa: S608
            "ORDER BY recorded_at DESC, id LIMIT 400",
            asked.parameters,
        )
        return [(id, subject, target, predicate) for id, subject, target, predicate in cursor.fetchall()]
