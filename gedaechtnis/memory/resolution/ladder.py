"""What a name means to a reader, step by step from certain to likely.

A write binds only by the first steps (`writing.entities.EntityBook`, over the same `references.bearing`): what is
merely alike becomes a new entity there, and a suggestion to merge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from gedaechtnis.common.text import check_text, name_key
from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory import references
from gedaechtnis.memory.answers import EntityView
from gedaechtnis.memory.resolution import alike
from gedaechtnis.memory.selectors import distinguishing
from gedaechtnis.memory.selectors.entities import entity_views, search_entities
from gedaechtnis.memory.selectors.recall import meaning
from gedaechtnis.scoping.context import current_scope, scope
from gedaechtnis.world.models import Entity

_CANDIDATES = 20


class Step(StrEnum):
    """How a name was understood."""

    REFERENCE = "reference"
    EXACT = "exact"
    SPELLING = "spelling"
    ALIKE = "alike"
    MEANING = "meaning"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A name somewhere in a text, and what kind of thing it is said to be."""

    name: str
    kind: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedEntity:
    """What a mention means.

    `step` says how it was found; below `exact` it is a guess that no write may rest on. `candidates` are all it could
    mean where a person must say which, or what resembles it where nothing is it. `same_as`: the earlier mention of
    the batch that brings the same new entity.
    """

    name: str
    kind: str | None
    entity_id: UUID | None = None
    ref: str | None = None
    step: Step | None = None
    is_new: bool = False
    is_reference: bool = False
    needs_clarification: bool = False
    question: str | None = None
    candidates: tuple[EntityView, ...] = ()
    same_as: int | None = None


def resolve(*, principal: Principal, name: str, kind: str | None = None, at: datetime | None = None) -> ResolvedEntity:
    """What a name means to the principal at an instant (now by default). Raises Problem `invalid_text`, `too_long`."""
    return resolve_all(principal=principal, mentions=[Mention(name=name, kind=kind)], at=at)[0]


def resolve_all(
    *, principal: Principal, mentions: Sequence[Mention], at: datetime | None = None
) -> tuple[ResolvedEntity, ...]:
    """As `resolve` for several at once; spellings of one unknown name are one new entity."""
    for mention in mentions:
        check_text(mention.name, field="ref", limit=500)
    is_inside = current_scope() is not None
    with scope(principal):
        by_name = [_resolve(principal, mention, at) for mention in mentions]
    # The model may be far away: it is asked while no scope is open, or not at all.
    found = by_name if is_inside else [_by_meaning(principal, resolved) for resolved in by_name]
    new: dict[tuple[str, str | None], int] = {}
    for index, (mention, resolved) in enumerate(zip(mentions, found, strict=True)):
        if resolved.is_new:
            first = new.setdefault((name_key(mention.name), mention.kind), index)
            found[index] = resolved if first == index else replace(resolved, same_as=first)
    return tuple(found)


def _by_meaning(principal: Principal, resolved: ResolvedEntity) -> ResolvedEntity:
    """The last step, for a name that resembles nobody's."""
    if not resolved.is_new or resolved.candidates:
        return resolved
    asked = meaning.ask(resolved.name)
    if asked.vector is None:
        return resolved
    with scope(principal):
        likely = alike.close_in_meaning(asked, resolved.name, resolved.kind)
        if len(likely) == 1:
            return _found(likely[0], Step.MEANING)
        return replace(resolved, candidates=entity_views(likely))


def _resolve(principal: Principal, mention: Mention, at: datetime | None) -> ResolvedEntity:
    name, kind = mention.name, mention.kind
    scopes = references.in_order(principal.read_scopes, principal.default_scope)
    by_ref = references.look_up(name, scopes=scopes)
    if by_ref is not None and kind in {None, by_ref.kind}:
        return _found(by_ref, Step.REFERENCE)
    exact = references.bearing(name, scopes=scopes, kinds=(kind,) if kind else (), at=at)
    if len(exact) > 1:
        return _unclear(principal, mention, exact)
    if exact:
        return _found(exact[0], Step.EXACT)
    for step, look in (
        (Step.SPELLING, alike.spelt_otherwise),
        (Step.ALIKE, alike.alike),
    ):
        likely = look(name, kind)
        if len(likely) == 1:
            return _found(likely[0], step)
        if likely:
            return ResolvedEntity(name=name, kind=kind, is_new=True, candidates=entity_views(likely))
    resembling = search_entities(principal=principal, q=name, kind=kind, limit=_CANDIDATES).items
    return ResolvedEntity(name=name, kind=kind, is_new=True, candidates=resembling)


def _found(entity: Entity, step: Step) -> ResolvedEntity:
    return ResolvedEntity(
        name=entity.canonical_name,
        kind=entity.kind,
        entity_id=entity.pk,
        ref=entity.ref,
        step=step,
        is_reference=step is Step.REFERENCE,
        candidates=() if step in {Step.REFERENCE, Step.EXACT} else entity_views([entity]),
    )


def _unclear(principal: Principal, mention: Mention, bearers: Sequence[Entity]) -> ResolvedEntity:
    several = sorted(bearers, key=lambda entity: (entity.ref, entity.pk))
    return ResolvedEntity(
        name=mention.name,
        kind=mention.kind,
        needs_clarification=True,
        question=distinguishing.question(distinguishing.labels(several, principal=principal)),
        candidates=entity_views(several),
    )
