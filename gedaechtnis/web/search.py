"""What a search asks, as its address says it, and what it found, as people read it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID
from zoneinfo import ZoneInfo

from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from gedaechtnis.common.instants import UNKNOWN_START, parse_as_of, parse_bound
from gedaechtnis.common.problems import NotFound, Problem
from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory.answers import EntityView, FactView
from gedaechtnis.memory.planner.intervals import FOREVER
from gedaechtnis.memory.selectors import entities, explain
from gedaechtnis.memory.selectors.recall.hits import Hit, Mode, SearchAnswer, SearchQuery, SourceKind
from gedaechtnis.web import asof
from gedaechtnis.web.asof import Moment
from gedaechtnis.web.scopes import is_private

PAGE = 10

PLACES: dict[str, tuple[Any, tuple[SourceKind, ...]]] = {
    "facts": (gettext_lazy("Facts"), ("fact", "event")),
    "things": (gettext_lazy("Things"), ("entity", "entity_live")),
    "talks": (gettext_lazy("Conversations"), ("episode",)),
}
"""Where one may look: its words, and the kinds of what search keeps."""

MODES: dict[Mode, Any] = {
    "hybrid": gettext_lazy("in every way"),
    "keyword": gettext_lazy("by words only"),
    "semantic": gettext_lazy("by meaning first"),
}

VOICES = {
    "lexical": gettext_lazy("words"),
    "semantic": gettext_lazy("meaning"),
    "temporal": gettext_lazy("time"),
    "graph": gettext_lazy("connection"),
}
"""What found a hit, in one word each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A search as it stands in the address; days are kept as they were typed."""

    q: str = ""
    where: str = ""
    mode: Mode = "hybrid"
    since: str = ""
    until: str = ""
    scope: str = ""
    moment: Moment = asof.NOW

    @property
    def parameters(self) -> dict[str, str]:
        """What differs from an empty search, by the names of the address."""
        said = {"q": self.q, "in": self.where, "from": self.since, "to": self.until, "scope": self.scope}
        mode = {} if self.mode == "hybrid" else {"mode": self.mode}
        return {name: value for name, value in said.items() if value} | mode | self.moment.parameters

    @property
    def narrows(self) -> bool:
        """Whether anything but the words decides what is found."""
        return bool(self.parameters.keys() - {"q"})

    def address(self, **changes: Any) -> str:
        """The query of the same search with something changed, with its question mark; empty for an empty search."""
        parameters = replace(self, **changes).parameters
        return f"?{urlencode(parameters)}" if parameters else ""

    def query(self, *, zone: ZoneInfo, now: datetime, cursor: str | None) -> SearchQuery:
        """
        Raises:
            Problem: a day that cannot be read, or `empty_range` where the time ends before it begins.
        """
        bound = parse_bound(self.since, zone=zone, field="from") if self.since else None
        begin = bound.at if bound else UNKNOWN_START
        end = parse_as_of(self.until, zone=zone, field="to", now=now) if self.until else FOREVER
        if end < begin:
            raise Problem("empty_range", _("The time ends before it begins."), field="to")
        return SearchQuery(
            text=self.q,
            mode=self.mode,
            source_kinds=PLACES[self.where][1] if self.where else (),
            time_range=(begin, end) if self.since or self.until else None,
            valid_at=self.moment.valid_at,
            known_at=self.moment.known_at,
            limit=PAGE,
            cursor=cursor,
        )


def from_address(params: QueryDict, *, zone: ZoneInfo, now: datetime) -> Asked:
    """Read a search out of an address; what is not known there means the default.

    Raises:
        Problem: a moment that cannot be read.
    """
    where = params.get("in", "")
    return Asked(
        q=params.get("q", "").strip(),
        where=where if where in PLACES else "",
        mode=next((mode for mode in MODES if mode == params.get("mode")), "hybrid"),
        since=params.get("from", "").strip(),
        until=params.get("to", "").strip(),
        scope=params.get("scope", ""),
        moment=asof.from_address(params, zone=zone, now=now),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Find:
    """A hit with what it leads to: a fact (and what holds in its place now), a thing, or a message."""

    hit: Hit
    fact: FactView | None = None
    successor: FactView | None = None
    entity: EntityView | None = None

    @property
    def name(self) -> str:
        """What a thing was called at the moment that was asked about."""
        return self.hit.text.partition("\n")[0]

    @property
    def voices(self) -> list[str]:
        """What found it, the strongest first, in words."""
        heard = sorted(((weight, name) for name, weight in self.hit.voices.items() if weight > 0), reverse=True)
        return [str(VOICES[name]) for _weight, name in heard if name in VOICES]


def finds(answer: SearchAnswer, *, principal: Principal) -> tuple[Find, ...]:
    """What was found with what each leads to; what can no longer be read is left out."""
    ids = {hit.superseded_by for hit in answer.hits if hit.superseded_by}
    holding = {fact.id: fact for fact in explain.get_facts(principal=principal, fact_ids=list(ids))} if ids else {}
    return tuple(find for hit in answer.hits if (find := _find(hit, holding, principal)))


def _find(hit: Hit, holding: dict[UUID, FactView], principal: Principal) -> Find | None:
    if hit.message_id is not None or hit.fact is not None:
        return Find(hit=hit, fact=hit.fact, successor=holding.get(hit.superseded_by) if hit.superseded_by else None)
    try:
        return Find(hit=hit, entity=_entity(hit, principal))
    except NotFound:
        return None


def _entity(hit: Hit, principal: Principal) -> EntityView:
    """A group may hold a thing of the same kind and name as one's own, which `kind:slug` alone would mean."""
    ref = hit.ref
    if not is_private(hit.scope_ref):
        ref = str(entities.get_entity(principal=replace(principal, read_scopes=(hit.scope_ref,)), ref=ref).id)
    return entities.get_entity(principal=principal, ref=ref)


def unheard(missing: Iterable[str]) -> list[str]:
    """What search could not do, in words; an entry of `missing` is `voice: reason`."""
    manners = {"semantic": _("By meaning"), "lexical": _("By words"), "temporal": _("By time")}
    said = []
    for entry in missing:
        voice, _colon, reason = entry.partition(": ")
        said.append(f"{manners[voice]}: {reason}" if voice in manners else entry)
    return said
