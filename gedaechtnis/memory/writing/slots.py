"""The keys under which beliefs compete; computed here and nowhere else."""

from __future__ import annotations

from uuid import UUID

from gedaechtnis.common import canonical


def slot_key(
    *,
    subject_id: UUID,
    predicate: str,
    functional: bool,
    applies_to_id: UUID | None,
    object_key: UUID,
    polarity: bool,
) -> UUID:
    """Functional: subject, predicate, applicability. Set predicates and negative facts: the object too."""
    parts = [str(subject_id), predicate, str(applies_to_id or "")]
    if not (functional and polarity):
        parts.append(str(object_key))
    return canonical.digest(*parts)


def pair_key(subject_id: UUID, object_id: UUID) -> UUID:
    """Equal for both rows of a symmetric pair: the planner judges it once, whichever end it is seen from."""
    return canonical.digest("pair", *sorted((str(subject_id), str(object_id))))
