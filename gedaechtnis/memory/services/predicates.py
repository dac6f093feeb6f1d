"""Changing what decides where the beliefs of a predicate compete: every memory that uses it follows, scope by scope.

The registry changes at once, and from then on new statements are judged by the new rules. When no process can have the
old ones in mind any more, work in each scope closes what was written by them and asserts it again under new ticks.
What is asked for again, or broken off, goes on where it is: only rows that do not fit the rules are touched.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import connection, transaction
from django.utils.translation import gettext as _

from gedaechtnis.common import canonical
from gedaechtnis.common.ids import uuid7
from gedaechtnis.common.problems import NotFound, Problem
from gedaechtnis.identity import audit
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import MAX_CLEARANCE, Principal, PrincipalKind, person, still_in
from gedaechtnis.memory.planner import ClosedReason
from gedaechtnis.memory.planner.reshaping import Claim, Kept, arrange
from gedaechtnis.memory.planner.rows import ConflictKind
from gedaechtnis.memory.planner.writer import columns_of_interval
from gedaechtnis.memory.schemas import Source
from gedaechtnis.memory.writing.apply import compared_key, is_mirrored, keys_of, reflected
from gedaechtnis.memory.writing.assertions import belief
from gedaechtnis.memory.writing.session import WriteSession
from gedaechtnis.registry import catalogue
from gedaechtnis.registry.changes import CHANGE_PREDICATE, announce
from gedaechtnis.registry.models import FROZEN, Predicate
from gedaechtnis.scoping import work
from gedaechtnis.scoping.context import permit, scope
from gedaechtnis.scoping.models import PUBLIC
from gedaechtnis.scoping.rows import columns_of, make
from gedaechtnis.world.models import Fact

FOLLOW_PREDICATE = "follow_predicate"
"""Kind of the work of writing a scope's facts of a changed predicate again (`world_follow_predicate` in SQL)."""

_SUBJECTS_AT_ONCE = 100


def change_predicate(*, key: str, flags: Mapping[str, Any], acted_by: str) -> None:
    """Change frozen flags of a predicate, and have every scope that uses it follow.

    Raises:
        NotFound: nobody registered it.
        Problem: `unknown_field`, or `invalid_predicate` if the flags contradict each other.
    """
    if unknown := set(flags) - set(FROZEN):
        raise Problem("unknown_field", _("There is no such field."), field=min(unknown))
    with transaction.atomic():
        predicate = Predicate.objects.select_for_update().filter(key=key).first()
        if predicate is None:
            raise NotFound(_("Nothing is known under “%(ref)s”.") % {"ref": key[:80]})
        for name, value in flags.items():
            setattr(predicate, name, value)
        try:
            predicate.full_clean()
        except ValidationError as error:
            raise Problem("invalid_predicate", " ".join(error.messages)) from error
        permit("predicate_change", key)
        predicate.save(update_fields=list(flags))
        audit.record(
            audit.Kind.PREDICATE_CHANGED,
            acted_by=acted_by,
            predicate=key,
            rules=",".join(f"{name}:{value}" for name, value in flags.items()),
        )
        announce(key)
        transaction.on_commit(catalogue.forget)


@work.handler(CHANGE_PREDICATE)
def change_everywhere(item: work.WorkItem) -> None:
    """Leave work in each scope that believes something of the predicate."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT world_follow_predicate(%s)", [item.dedupe_key])
    work.nudge()


@work.handler(FOLLOW_PREDICATE)
def follow_predicate(item: work.WorkItem) -> None:
    """Write a scope's facts of the predicate again by its present rules, some subjects at a time."""
    reader, after = _reader(item), None
    while True:
        with scope(reader, write=item.scope_ref, clearance=MAX_CLEARANCE) as opened:
            session = WriteSession.begin(opened, run_id=f"predicate-{uuid7()}")
            rows, after = _next_rows(session, item.dedupe_key, after)
            _rewrite(session, item.dedupe_key, rows)
            session.finish()
        if after is None:
            return


def _reader(item: work.WorkItem) -> Principal:
    """The server itself, with the eyes of whoever reads the scope: a pair is worded from both its ends."""
    system = item.system()
    user = User.objects.filter(sub=system.sub).first() if system.sub else None
    if user is None:
        return system
    seen = person(user, still_in(user, item.org_id))
    return replace(seen, kind=PrincipalKind.SYSTEM, acted_by=system.acted_by, write_scopes=system.write_scopes)


def _next_rows(session: WriteSession, predicate: str, after: UUID | None) -> tuple[list[Fact], UUID | None]:
    """The believed rows of the next subjects, and after whom to go on; of pairs all at once, as they hang together."""
    believed = Fact.objects.believed().filter(scope_ref=session.scope_ref, predicate=predicate)
    term = session.catalogue.predicates.get(predicate)
    if (term is not None and term.symmetric) or believed.exclude(mirror_of=None).exists():
        return list(believed), None
    remaining = believed.filter(subject_id__gt=after) if after else believed
    subjects = list(
        remaining.order_by("subject_id").values_list("subject_id", flat=True).distinct()[:_SUBJECTS_AT_ONCE]
    )
    last = subjects[-1] if len(subjects) == _SUBJECTS_AT_ONCE else None
    return list(believed.filter(subject_id__in=subjects)), last


def _rewrite(session: WriteSession, predicate: str, rows: Sequence[Fact]) -> None:
    """Close and write again what does not fit the present rules, at one tick."""
    twins = {row.mirror_of: row for row in rows if row.mirror_of}
    claims = {row.pk: row for row in rows if row.mirror_of is None}
    answers: dict[UUID, Fact] = {}
    written, closed, level, event_id = 0, 0, PUBLIC, uuid7()
    for kept in arrange(_claim(session, row) for row in claims.values()):
        row, twin = claims[kept.id], twins.get(kept.id)
        if _fits(session, row, twin, kept):
            answers[row.pk] = row
            continue
        pieces = [_piece(session, row, kept, number, event_id) for number in range(len(kept.pieces))]
        winners = [answers[id] for id in kept.lost_to]
        successor = next(iter([*pieces, *winners]))
        answers[row.pk] = successor
        others = [winner for winner in winners if not _says_the_same(session, winner, row)]
        reason = ClosedReason.CHANGED if others else ClosedReason.CONFIRMED
        for side in (row, twin) if twin else (row,):
            session.ledger.close(side, tick=session.ticks[0], reason=reason, closed_by=successor.pk, why=None)
            closed += 1
        for piece in _with_twins(session, pieces, twin):
            session.ledger.insert(piece)
            written += 1
        for winner in others:
            _note_conflict(session, row, winner, event_id)
        level = max(level, row.classification)
        session.touched.update(id for id in (row.subject_id, row.object_entity_id) if id)
    if closed:
        session.level = level
        session.add_event(
            id=event_id,
            event_type="predicate.changed",
            tick=session.ticks[0],
            source=Source.SYSTEM_RULE,
            payload={"predicate": predicate, "written": written, "closed": closed},
        )


def _claim(session: WriteSession, row: Fact) -> Claim:
    """A row and where it competes under the present rules: with its opposite, its equals, and in a functional slot."""
    term = session.catalogue.predicates.get(row.predicate)
    functional = term is not None and term.is_functional
    ends = [(row.subject_id, keys_of(session, row)[0])]
    if is_mirrored(session, row) and row.object_entity_id is not None:
        ends.append((row.object_entity_id, canonical.object_key(entity_id=row.subject_id)))
    places: set[Hashable] = set()
    shut_out_by: set[Hashable] = set()
    for subject, object_key in ends:
        here = (subject, row.applies_to_id)
        places.add((*here, row.polarity, object_key))
        shut_out_by |= {(*here, True, object_key), (*here, False, object_key)}
        if functional and row.polarity:
            places.add(here)
            shut_out_by.add(here)
    return Claim(
        id=row.pk,
        interval=belief(session, row).interval,
        rank=row.rank,
        made_at=row.made_at,
        places=frozenset(places),
        shut_out_by=frozenset(shut_out_by),
    )


def _fits(session: WriteSession, row: Fact, twin: Fact | None, kept: Kept) -> bool:
    sides = [side for side in (row, twin) if side is not None]
    return (
        kept.pieces == (belief(session, row).interval,)
        and (twin is not None) == is_mirrored(session, row)
        and all((side.object_key, side.slot) == keys_of(session, side) for side in sides)
    )


def _piece(session: WriteSession, row: Fact, kept: Kept, number: int, event_id: UUID) -> Fact:
    """What a row keeps, as a row of its own: same statement, same origin, at the new tick."""
    columns = columns_of(row) | {
        "id": uuid7(),
        **columns_of_interval(kept.pieces[number]),
        "recorded_at": session.ticks[0],
        "event_id": event_id,
        "mirror_of": None,
    }
    piece = make(Fact, columns)
    piece.object_key, piece.slot = keys_of(session, piece)
    return piece


def _with_twins(session: WriteSession, pieces: Sequence[Fact], twin: Fact | None) -> Iterator[Fact]:
    for piece in pieces:
        yield piece
        if is_mirrored(session, piece):
            other = reflected(session, piece, twin)
            other.mirror_of = piece.pk
            yield other


def _says_the_same(session: WriteSession, one: Fact, other: Fact) -> bool:
    return one.polarity == other.polarity and _object_of(session, one) == _object_of(session, other)


def _object_of(session: WriteSession, row: Fact) -> UUID:
    return compared_key(session, row) if is_mirrored(session, row) else keys_of(session, row)[0]


def _note_conflict(session: WriteSession, row: Fact, winner: Fact, event_id: UUID) -> None:
    """Keep that two values claimed the same instants, unless one plainly succeeds the other."""
    if winner.valid_from > row.valid_from and not row.valid_to_stated:
        return
    session.level = max(row.classification, winner.classification)
    session.add_conflict(
        kind=ConflictKind.CONTRADICTION,
        fact_id=winner.pk,
        others=[row.pk],
        tick=session.ticks[0],
        event_id=event_id,
    )
