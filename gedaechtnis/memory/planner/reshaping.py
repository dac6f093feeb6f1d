"""When the rules of a predicate change: what each belief keeps of its interval where beliefs compete otherwise."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from gedaechtnis.memory.planner.intervals import Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A believed row (of a pair, one) under the new rules.

    `places`: what it occupies as long as it holds. `shut_out_by`: the places that nobody else may occupy meanwhile;
    of two claims either both shut out each other or neither does.
    """

    id: UUID
    interval: Interval
    rank: int
    made_at: datetime
    places: frozenset[Hashable]
    shut_out_by: frozenset[Hashable]

    @property
    def weight(self) -> tuple[int, datetime, datetime, UUID]:
        """Authority first; among equals what began later, as a change; then what was said later."""
        return (self.rank, self.interval.start.at, self.made_at, self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What a claim keeps, in order of time, and the claims that took the rest."""

    id: UUID
    pieces: tuple[Interval, ...]
    lost_to: tuple[UUID, ...]


def arrange(claims: Iterable[Claim]) -> Iterator[Kept]:
    """Weigh the claims against each other, the weightiest first: each keeps what no weightier one holds."""
    taken: dict[Hashable, list[tuple[Interval, UUID]]] = defaultdict(list)
    for claim in sorted(claims, key=lambda claim: claim.weight, reverse=True):
        rivals = [
            (interval, id)
            for place in claim.shut_out_by
            for interval, id in taken[place]
            if interval.overlaps(claim.interval)
        ]
        pieces = claim.interval.outside(interval for interval, _id in rivals)
        for place in claim.places:
            taken[place] += [(piece, claim.id) for piece in pieces]
        yield Kept(id=claim.id, pieces=tuple(pieces), lost_to=tuple(dict.fromkeys(id for _interval, id in rivals)))
