"""Who is who in a conversation: known and new entities, whom "she" means, and what was said so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from curator.extractors.builtin.grammar import Role
from curator.extractors.builtin.phrases import Mention, Named, Pronoun, Self
from curator.window import KnownFact, Window
from gedaechtnis.common.text import name_key, slugify
from gedaechtnis.memory.schemas import AssertFact, AssertRelationship, Operation

SELF_REF = "person:me"
_ANIMATE = frozenset({"person", "pet"})
_SYMMETRIC = frozenset({"sibling_of", "partner_of", "married_to", "friend_of", "knows", "colleague_of", "related_to"})
_INVERSE = {"parent_of": "child_of", "owned_by": "owns", "cares_for": "cared_for_by"}

Assertion = AssertFact | AssertRelationship


class Unresolved(Exception):
    """A phrase does not name one thing, or a rule does not apply after all: nothing is learned from it."""


@dataclass(frozen=True, slots=True)
class Thing:
    """An entity as the conversation sees it."""

    ref: str
    name: str
    kind: str
    keys: frozenset[str]
    is_known: bool


@dataclass(slots=True)
class Utterance:
    """One operation, and whether it will be proposed (context never is)."""

    operation: Operation
    turn: int
    emitted: bool


@dataclass(slots=True)
class Discourse:
    """The state of a conversation while it is read."""

    window: Window
    things: list[Thing] = field(default_factory=list)
    self_ref: str = SELF_REF
    focus: str | None = None
    unnamed: tuple[Role, str] | None = None
    utterances: list[Utterance] = field(default_factory=list)
    may_create: bool = True

    def __post_init__(self) -> None:
        for entity in self.window.known:
            keys = frozenset(name_key(name) for name in (entity.name, *entity.aliases))
            self.things.append(Thing(entity.ref, entity.name, entity.kind, keys, is_known=True))
            if entity.is_self:
                self.self_ref = entity.ref

    # -- resolving ---------------------------------------------------------------------------------------------

    def resolve(self, mention: Mention, kind: str) -> str:
        """The reference a mention stands for.

        A name that several known things carry is returned as the bare name: the question which one is meant
        is asked, not guessed. Raises Unresolved.
        """
        if isinstance(mention, Self):
            return self.self_ref
        if isinstance(mention, Pronoun):
            if self.focus is None:
                raise Unresolved("nobody was mentioned")
            return self.focus
        if isinstance(mention, Named):
            return self.by_name(mention.name, kind)
        owner = self.resolve(mention.owner, "person") if mention.owner is not None else None
        if mention.name is not None:
            return self.by_name(mention.name, mention.role.kind, strict=True)
        if owner is None:
            raise Unresolved("nobody in particular")
        return self.by_role(mention.role, owner)

    def by_name(self, name: str, kind: str, *, strict: bool = False) -> str:
        """Find or create the thing of this name; `strict` = exactly this kind, not a living being of either kind."""
        key = name_key(name)
        if not key:
            raise Unresolved("no name")
        kinds = _ANIMATE if kind in _ANIMATE and not strict else frozenset({kind})
        exact = [thing for thing in self.things if thing.kind in kinds and name_key(thing.name) == key]
        found = exact or [thing for thing in self.things if thing.kind in kinds and key in thing.keys]
        if len(found) == 1:
            return found[0].ref
        if found:
            return name
        return self._create(name, kind)

    def _create(self, name: str, kind: str) -> str:
        slug = slugify(name)
        if not slug or not self.may_create:
            raise Unresolved("nothing to name it by")
        taken = {thing.ref for thing in self.things}
        ref, number = f"{kind}:{slug}", 2
        while ref in taken:
            ref, number = f"{kind}:{slug}-{number}", number + 1
        self.things.append(Thing(ref, name, kind, frozenset({name_key(name)}), is_known=False))
        return ref

    def by_role(self, role: Role, owner: str) -> str:
        """The one who stands in this relation to the owner. Raises Unresolved unless there is exactly one."""
        found = {
            ref
            for subject, predicate, other in self._relations()
            for ref in _named_in(role, owner, subject, predicate, other)
            if self._fits(ref, role)
        }
        if len(found) != 1:
            raise Unresolved("not exactly one")
        return found.pop()

    def _fits(self, ref: str, role: Role) -> bool:
        species = next((fact.value for fact in self.known_facts(ref, "species")), None)
        return role.species is None or species is None or name_key(str(species)) == name_key(role.species)

    def _relations(self) -> list[tuple[str, str, str]]:
        known = [
            (entity.ref, fact.predicate, fact.object_ref)
            for entity in self.window.known
            for fact in entity.facts
            if fact.object_ref is not None and fact.polarity
        ]
        said = [
            (utterance.operation.subject_ref, utterance.operation.predicate, utterance.operation.object_ref)
            for utterance in self.utterances
            if isinstance(utterance.operation, AssertRelationship) and utterance.operation.polarity
        ]
        return known + said

    def related(self, subject: str, predicate: str, other: str) -> bool:
        """Whether the known facts hold this relation already, in either direction of writing."""
        role = Role("", predicate)
        return any(subject in _named_in(role, other, a, p, b) for a, p, b in self._relations())

    def thing(self, ref: str) -> Thing | None:
        """What is known under a reference."""
        return next((thing for thing in self.things if thing.ref == ref), None)

    def note_names(self, text: str) -> None:
        """A sentence that was not understood names somebody: one living being becomes "she", several become nobody."""
        padded = f" {name_key(text)} "
        mentioned = {
            thing.ref
            for thing in self.things
            if thing.kind in _ANIMATE and any(key and f" {key} " in padded for key in thing.keys)
        }
        if mentioned:
            self.focus = mentioned.pop() if len(mentioned) == 1 else None

    # -- what is believed and was said -------------------------------------------------------------------------

    def known_facts(self, subject: str, predicate: str | None = None) -> list[KnownFact]:
        """Active facts about a subject."""
        entity = self.window.by_ref.get(subject)
        facts = entity.facts if entity is not None else ()
        return [fact for fact in facts if predicate is None or fact.predicate == predicate]

    def known_equal(self, subject: str, predicate: str, value: Any, object_ref: str | None) -> KnownFact | None:
        """The known positive fact that says exactly this, also where it is written from the other side."""
        for fact in self.known_facts(subject, predicate):
            if fact.polarity and (fact.object_ref == object_ref if object_ref else same_value(fact.value, value)):
                return fact
        if object_ref is None:
            return None
        mirrored = predicate if predicate in _SYMMETRIC else _INVERSE.get(predicate, "")
        return next(
            (fact for fact in self.known_facts(object_ref, mirrored) if fact.object_ref == subject and fact.polarity),
            None,
        )

    def last_learned(self) -> tuple[str, KnownFact] | None:
        """The fact learned last, if that can be told: by its time, or because it is the only one."""
        facts = [(entity.ref, fact) for entity in self.window.known for fact in entity.facts]
        dated = [(ref, fact) for ref, fact in facts if fact.learned_at is not None]
        if dated:
            return max(dated, key=lambda pair: pair[1].learned_at or self.window.now)
        return facts[0] if len(facts) == 1 else None

    def last_learned_of(self, slots: list[tuple[str, str]]) -> tuple[str, str] | None:
        """Which of some (subject, predicate) pairs was learned last, if that can be told."""
        dated = [
            (fact.learned_at, (ref, predicate))
            for ref, predicate in slots
            for fact in self.known_facts(ref, predicate)
            if fact.learned_at is not None
        ]
        return max(dated)[1] if dated else None

    def assertions(self) -> list[tuple[Utterance, Assertion]]:
        """What was asserted in this conversation, oldest first."""
        return [(said, said.operation) for said in self.utterances if isinstance(said.operation, Assertion)]

    def label(self, ref: str) -> str:
        """The name of a reference, or the reference itself."""
        thing = self.thing(ref)
        return thing.name if thing is not None else ref


def same_value(one: Any, other: Any) -> bool:
    """Whether two literals are the same to a person."""
    if isinstance(one, str) and isinstance(other, str):
        return name_key(one) == name_key(other)
    return bool(one == other)


def _named_in(role: Role, owner: str, subject: str, predicate: str, other: str) -> tuple[str, ...]:
    """Whom a relation names as `role` of `owner`: at most one reference."""
    direct = (subject, other) if not role.owner_first else (other, subject)
    if predicate == role.predicate:
        if direct[1] == owner:
            return (direct[0],)
        if predicate in _SYMMETRIC and direct[0] == owner:
            return (direct[1],)
    if predicate == _INVERSE.get(role.predicate) and direct[0] == owner:
        return (direct[1],)
    return ()
