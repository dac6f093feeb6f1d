"""One clause being turned into operations: bounds, negation, correction and evidence are the same for all rules."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from curator.extractors.builtin import phrases
from curator.extractors.builtin.clauses import Clause
from curator.extractors.builtin.discourse import Assertion, Discourse, Unresolved
from curator.extractors.builtin.grammar import Role, Rule
from curator.extractors.builtin.phrases import Mention, Related
from gedaechtnis.common import dates
from gedaechtnis.memory.schemas import (
    AssertFact,
    AssertRelationship,
    Evidence,
    InvalidateFact,
    MemoryType,
    Operation,
)

UNKNOWN = "unknown"


@dataclass(slots=True)
class Speaker:
    """Collects the operations of one clause under one rule. Helpers raise Unresolved where the clause does not fit."""

    clause: Clause
    rule: Rule
    discourse: Discourse
    said: list[Operation] = field(default_factory=list)

    # -- phrases -----------------------------------------------------------------------------------------------

    def mentions(self, text: str) -> tuple[Mention, ...]:
        """The parts of a phrase that may name several."""
        found = phrases.parse(text, self.clause.language)
        if found is None:
            raise Unresolved(f"not a name: {text}")
        return found

    def refs(self, text: str, kind: str) -> list[str]:
        """References for a phrase, with what the phrase says by the way ("my sister Anna") asserted too."""
        return [self.ref(mention, kind) for mention in self.mentions(text)]

    def ref(self, mention: Mention, kind: str) -> str:
        """The reference of one mention."""
        ref = self.discourse.resolve(mention, kind)
        if isinstance(mention, Related) and mention.name is not None and mention.owner is not None:
            self.relate_role(mention.role, ref, self.discourse.resolve(mention.owner, "person"), in_passing=True)
        return ref

    def owners(self, groups: dict[str, str]) -> list[str]:
        """Whom an attribute is about: a possessive ("my", "Anna's") or an ordinary subject."""
        if groups.get("P"):
            owner = phrases.possessor(groups["P"], self.clause.language)
            if owner is None:
                raise Unresolved("whose?")
            return [self.ref(owner, self.rule.subject_kind)]
        return self.refs(groups.get("S", ""), self.rule.subject_kind)

    # -- operations --------------------------------------------------------------------------------------------

    @property
    def evidence(self) -> Evidence:
        return Evidence(text=self.clause.evidence[:8000], ref=f"msg:{self.clause.message.id}")

    @property
    def sent_at(self) -> str:
        return self.clause.message.sent_at.isoformat()

    def relate_role(self, role: Role, named: str, owner: str, *, in_passing: bool = False) -> None:
        """Say that `named` is `role` to `owner`; in passing it is neither dated, negated nor repeated."""
        subject, other = (owner, named) if role.owner_first else (named, owner)
        if not in_passing:
            self.say(subject, role.predicate, object_ref=other)
        elif not self.discourse.related(subject, role.predicate, other):
            self.said.append(self._assertion(subject, role.predicate, None, other, {}))
        known_species = self.discourse.known_facts(named, "species")
        if role.species is not None and not known_species and self.clause.negated == "no":
            self.said.append(self._assertion(named, "species", role.species, None, {}))

    def say(self, subject: str, predicate: str, value: Any = None, object_ref: str | None = None, **more: Any) -> None:
        """Assert, deny or end one thing, as the clause says it."""
        if subject == object_ref:
            raise Unresolved("related to itself")
        bounds = dates.bounds(self.clause.phrases, self.rule.lean)
        negated = self.clause.negated
        if self.clause.unclear or (negated != "no" and self.rule.negation == "refuse"):
            raise Unresolved("negated, but it is not clear what")
        if any(
            self._begins_later(phrase) and phrase.period(dates.Lean.FUTURE) is None for phrase in self.clause.phrases
        ):
            raise Unresolved("it begins later, but not clear when")
        if self.rule.needs_date and bounds.valid_from is None:
            raise Unresolved("it has not happened yet, and nobody said when")
        if self.rule.ended or self.clause.before or (negated == "no_longer" and self.rule.negation == "stop"):
            self._say_ended(subject, predicate, value, object_ref, bounds, stopped=negated == "no_longer")
            return
        details: dict[str, Any] = {
            "polarity": negated == "no",
            "valid_from": bounds.valid_from.text if bounds.valid_from else None,
            "valid_to": bounds.valid_to.text if bounds.valid_to else None,
            "still": self._holds_now(bounds),
            **more,
        }
        if self.corrects():
            details |= {"correction": True, "memory_type": MemoryType.CORRECTION}
        self.said.append(self._assertion(subject, predicate, value, object_ref, details))

    def state(
        self, subject: str, predicate: str, value: Any = None, object_ref: str | None = None, **more: Any
    ) -> None:
        """Assert one thing whose dates are its value or were settled by the caller."""
        details: dict[str, Any] = dict(more)
        if self.clause.correction and not more:
            details |= {"correction": True, "memory_type": MemoryType.CORRECTION}
        self.said.append(self._assertion(subject, predicate, value, object_ref, details))

    def corrects(self) -> bool:
        """Whether the clause takes back what was believed, rather than telling of a change."""
        begins = any(self._begins_later(phrase) for phrase in self.clause.phrases)
        return self.clause.correction and not self.rule.change and not begins

    def _holds_now(self, bounds: dates.Bounds) -> bool:
        """Whether it is said to have begun in the past and to hold today ("moved last month", "since May")."""
        if bounds.valid_from is None or bounds.valid_to is not None:
            return False
        today = self.clause.message.sent_at.astimezone(self.discourse.window.zone).date()
        return bounds.valid_from.text[: len("2026-11-30")] <= today.isoformat()

    @staticmethod
    def _begins_later(phrase: dates.TimePhrase) -> bool:
        return phrase.role == "from" and not phrase.looks_back and phrase.instant is None

    def end(self, fact_id: str, at: str | None = None) -> None:
        """A known fact stopped holding, at the stated time or when it was said."""
        self.said.append(self._invalidation(fact_id, "end", at or self.sent_at))

    def retract(self, fact_id: str) -> None:
        """A known fact never held, or shall be forgotten."""
        self.said.append(self._invalidation(fact_id, "retract", None))

    def _say_ended(
        self, subject: str, predicate: str, value: Any, object_ref: str | None, bounds: dates.Bounds, *, stopped: bool
    ) -> None:
        began = bounds.valid_from.text if bounds.valid_from and not stopped else None
        if stopped and bounds.valid_from:
            over: str | None = bounds.valid_from.text
        elif bounds.valid_to:
            over = bounds.valid_to.text
        else:
            over = bounds.at.end().text if bounds.at else None
        known = self.discourse.known_equal(subject, predicate, value, object_ref)
        if known is not None and began is None:
            self.end(known.id, over)
            return
        details = {"valid_from": began or UNKNOWN, "valid_to": over or self.sent_at}
        self.said.append(self._assertion(subject, predicate, value, object_ref, details))

    def _assertion(
        self, subject: str, predicate: str, value: Any, object_ref: str | None, details: dict[str, Any]
    ) -> Assertion:
        common: dict[str, Any] = {
            "subject_ref": subject,
            "predicate": predicate,
            "memory_type": self.rule.memory_type,
            "evidence": self.evidence,
            "observed_at": self.sent_at,
        } | details
        if object_ref is not None:
            return AssertRelationship(object_ref=object_ref, **common)
        return AssertFact(object_value=value, **common)

    def _invalidation(self, fact_id: str, mode: Any, at: str | None) -> InvalidateFact:
        return InvalidateFact(
            target_fact_id=fact_id,
            mode=mode,
            at=at,
            evidence=self.evidence,
            reason=self.clause.evidence[:2000],
            memory_type=MemoryType.USER_ASSERTION,
        )
