"""Things: finding one, what is known of it, what is around it, who has something."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

from django.utils.translation import gettext as _

from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory import references, values
from gedaechtnis.memory.answers import Change, EntityView, FactsAnswer, FactView, NeighborsAnswer
from gedaechtnis.memory.selectors import asof, changes, entities, relations
from gedaechtnis.registry.catalogue import catalogue
from gedaechtnis.registry.models import Predicate
from gedaechtnis.tools import arguments, naming, text
from gedaechtnis.tools.data import (
    DossierData,
    EntitiesData,
    EntityData,
    EntityFactsData,
    FactData,
    FactsAtData,
    NeighborData,
    NeighborsData,
    ToolAnswer,
)

_AROUND = 12
_FACTS_OF_A_NEIGHBOR = 3
_CHANGED = 5


def find_entity(principal: Principal, asked: arguments.FindEntity) -> ToolAnswer:
    """Entities that have or resemble a name, the best fit first."""
    page = entities.search_entities(
        principal=principal, q=asked.name, kind=asked.kind, cursor=asked.cursor, limit=asked.limit
    )
    data = EntitiesData(items=[EntityData.of(one) for one in page.items], cursor=page.cursor)
    if not page.items:
        return ToolAnswer(text=_("Nothing is called “%(name)s”.") % {"name": text.inert(asked.name)}, data=data)
    if page.cursor:
        last = _("… and more: ask again with cursor=%(cursor)s") % {"cursor": page.cursor}
    elif len(page.items) > 1 and asked.kind is None:
        last = _("(%(count)d found; kind= narrows it down)") % {"count": len(page.items)}
    else:
        last = ""
    return ToolAnswer(text=text.joined([f"- {text.heading(one)}" for one in page.items], last), data=data)


def get_entity(principal: Principal, asked: arguments.AboutEntity) -> ToolAnswer:
    """What holds about one thing now: what it is, and how it is connected."""
    found = _whole(principal, naming.entity(principal, asked.ref))
    lines = _known(found, principal, asked.limit)
    return ToolAnswer(
        text=text.joined(_intro(found.entity), lines or _nothing_about(found.entity)),
        data=EntityFactsData(**_data(found)),
    )


def dossier(principal: Principal, asked: arguments.AboutEntity) -> ToolAnswer:
    """One thing with its surroundings: as `get_entity`, and what is known of those around it and changed last."""
    found = _whole(principal, naming.entity(principal, asked.ref))
    near = relations.neighbors(principal=principal, entity_id=found.entity.id).neighbors
    around = _most_telling(
        asof.facts_of(principal=principal, entity_ids=[one.entity.id for one in near[:_AROUND]]), near_to=found
    )
    last = _news(changes.changes(principal=principal, entity_id=found.entity.asked_id))[:_CHANGED]
    lines = _known(found, principal, asked.limit)
    return ToolAnswer(
        text=text.joined(
            _intro(found.entity),
            lines or _nothing_about(found.entity),
            text.section(
                _("Around it:"), text.capped([text.line(text.full(f), f, principal) for f in around], asked.limit)
            ),
            text.section(_("Changed last:"), [text.line(text.full(fact), fact, principal) for fact in last]),
        ),
        data=DossierData(**_data(found), around=FactData.all(around), changed=FactData.all(last)),
    )


class _Whole:
    """An entity with what holds of it: attributes and relationships, each pair once, from the entity's own end."""

    def __init__(self, entity: EntityView, outward: Sequence[FactView], inward: Sequence[FactView]) -> None:
        said = {(fact.predicate, fact.object.entity_id) for fact in outward}
        self.entity = entity
        self.facts = [fact for fact in outward if fact.object.kind == "literal" and fact.predicate != text.NAME]
        self.outward = [fact for fact in outward if fact.object.kind == "entity"]
        self.inward = [fact for fact in inward if (fact.predicate, fact.subject_id) not in said]


def _whole(principal: Principal, entity: EntityView) -> _Whole:
    outward = asof.entity_facts(principal=principal, entity_id=entity.id).facts
    inward = asof.inbound_facts(principal=principal, entity_id=entity.id).facts
    return _Whole(entity, outward, inward)


def _intro(entity: EntityView) -> list[str]:
    merged = _("The one asked for was merged into it.") if entity.redirected_from else ""
    return [line for line in (text.heading(entity), text.inert(entity.description), merged) if line]


def _known(found: _Whole, principal: Principal, limit: int) -> list[str]:
    facts = [text.line(text.said(fact), fact, principal) for fact in found.facts]
    ties = [text.line(text.said(fact), fact, principal) for fact in found.outward]
    ties += [text.line(text.said_from_the_object(fact), fact, principal) for fact in found.inward]
    return [
        *text.section(_("Facts:"), text.capped(facts, limit)),
        *text.section(_("Relationships:"), text.capped(ties, limit)),
    ]


def _nothing_about(entity: EntityView) -> str:
    return _("No active facts about %(ref)s found.") % {"ref": entity.ref}


def _data(found: _Whole) -> dict[str, object]:
    ties = [*found.outward, *found.inward]
    return {
        "entity": EntityData.of(found.entity),
        "facts": FactData.all(found.facts),
        "relationships": FactData.all(ties),
        "total": len(found.facts) + len(ties),
    }


def _most_telling(facts: Iterable[FactView], near_to: _Whole) -> list[FactView]:
    """A few facts of each neighbour: not its name, and not the way back."""
    told: dict[str, list[FactView]] = {}
    for fact in facts:
        if fact.predicate != text.NAME and fact.object.entity_id != near_to.entity.id:
            told.setdefault(fact.subject_ref, []).append(fact)
    return [fact for facts in told.values() for fact in facts[:_FACTS_OF_A_NEIGHBOR]]


def _news(changed: Iterable[Change]) -> list[FactView]:
    """What was newly said and what was taken back, the latest first; what only made room is no news."""
    told: dict[UUID, FactView] = {}
    for change in changed:
        fact = change.fact
        is_new = change.kind == "believed" and fact.id == fact.origin_fact_id
        is_withdrawn = change.kind == "closed" and fact.status == "invalidated"
        if (is_new or is_withdrawn) and fact.predicate != text.NAME:
            told.setdefault(fact.origin_fact_id, fact)
    return list(told.values())


def get_neighbors(principal: Principal, asked: arguments.Neighbors) -> ToolAnswer:
    """What relationships lead to, in either direction, as far as `depth` steps."""
    entity = naming.entity(principal, asked.ref)
    answer = relations.neighbors(principal=principal, entity_id=entity.id, depth=asked.depth, predicate=asked.predicate)
    data = NeighborsData(
        items=[NeighborData(entity=EntityData.of(one.entity), distance=one.distance) for one in answer.neighbors],
        relationships=FactData.all(answer.facts),
        complete=answer.complete,
    )
    if not answer.facts:
        nothing = _("No relationships of %(ref)s found.") % {"ref": entity.ref}
        hint = naming.close_to(asked.predicate) if asked.predicate else ""
        return ToolAnswer(text=text.joined(nothing, hint), data=data)
    incomplete = "" if answer.complete else _("There are more than one answer holds: ask for one predicate.")
    return ToolAnswer(
        text=text.joined(entity.ref, text.capped(_grouped(entity, answer), asked.limit), incomplete), data=data
    )


def _grouped(entity: EntityView, answer: NeighborsAnswer) -> list[str]:
    """One line for all that a predicate leads to from the same thing; what is further away names both ends."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    paired = {(fact.subject_ref, fact.predicate, fact.object.ref) for fact in answer.facts}
    for fact in answer.facts:
        there, back = (fact.subject_ref, fact.predicate, fact.object.ref), fact.object.ref == entity.ref
        if back and (entity.ref, fact.predicate, fact.subject_ref) in paired and fact.subject_ref != entity.ref:
            continue  # what holds both ways is told once, from the thing asked about
        if not back and (there[2], there[1], there[0]) in paired and str(there[2]) < there[0] != entity.ref:
            continue
        if back:
            groups.setdefault(("", fact.predicate, "←"), []).append(fact.subject_ref)
        else:
            start = "" if fact.subject_ref == entity.ref else fact.subject_ref
            groups.setdefault((start, fact.predicate, "→"), []).append(text.value(fact))
    ordered = sorted(groups.items(), key=lambda group: (group[0][0] != "", group[0]))
    return [
        f"- {f'{start} ' if start else ''}{predicate} {arrow} {' · '.join(dict.fromkeys(others))}"
        for (start, predicate, arrow), others in ordered
    ]


def who_has(principal: Principal, asked: arguments.WhoHas) -> ToolAnswer:
    """Of whom a predicate holds with this object: the question from the other end."""
    answer = _having(principal, asked)
    data = FactsAtData(
        items=FactData.all(answer.facts[: asked.limit]),
        total=len(answer.facts),
        valid_at=answer.valid_at,
        known_at=answer.known_at,
        basis=answer.basis,
    )
    wanted = f"{asked.predicate} {text.inert(str(asked.object))}"
    if not answer.facts:
        nothing = _("No active facts with %(wanted)s found.") % {"wanted": wanted}
        return ToolAnswer(text=text.joined(nothing, naming.close_to(asked.predicate)), data=data)
    lines = [text.line(text.full(fact), fact, principal) for fact in answer.facts]
    return ToolAnswer(text=text.joined(text.capped(lines, asked.limit)), data=data)


def _having(principal: Principal, asked: arguments.WhoHas) -> FactsAnswer:
    term = catalogue().predicates.get(asked.predicate)
    at = naming.moment(principal, asked.at) if asked.at else None
    named = isinstance(asked.object, str) and (
        references.is_reference(asked.object) or (term is not None and term.value_type == Predicate.ValueType.ENTITY)
    )
    if named:
        found = naming.entity(principal, str(asked.object), "object")
        return asof.matching_facts(
            principal=principal, predicate=asked.predicate, object_entity_id=found.asked_id, valid_at=at
        )
    key = values.object_key(term, value=asked.object)
    return asof.matching_facts(principal=principal, predicate=asked.predicate, object_key=key, valid_at=at)
