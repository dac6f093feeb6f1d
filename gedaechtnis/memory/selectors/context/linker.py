"""Which entities a message speaks of. Names are looked up, never guessed: what stays unclear is said to be so."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from gedaechtnis.common.text import search_keys
from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory import references
from gedaechtnis.memory.selectors import names
from gedaechtnis.memory.selectors.context.common_words import COMMON_WORDS
from gedaechtnis.memory.selectors.context.mentions import Mention, Message, is_stop_word, read
from gedaechtnis.world.models import Entity

_ALIKE = 0.6
"""Share of common trigrams from which on a misspelt word is a name, if it is like no other."""
_MOST_LEFTOVERS = 2
"""Misspelt words that are looked for: each costs further questions to the database."""
_CALLED_BY_NAME = frozenset({"person", "pet", "organisation"})
"""What has names that may be ordinary words; a room or a device may be called by nothing else."""
SHELVES = frozenset({"domain", "policy"})
"""What is filed, not spoken of: a statement is found by its own words, not by all of its domain's, and rules stand."""

_NOBODY = UUID(int=0)
"""For a list of none the planner would read the whole scope."""

_LOOK_UP = """
WITH RECURSIVE named AS (
  SELECT e.id, e.search_key AS key FROM entities e
  WHERE e.scope_ref = ANY(%(scopes)s) AND e.search_key = ANY(%(keys)s)
  UNION
  SELECT a.entity_id, a.search_key FROM entity_aliases a
  WHERE a.scope_ref = ANY(%(scopes)s) AND a.search_key = ANY(%(keys)s) AND a.superseded_at IS NULL
    AND a.valid_from <= %(at)s AND (a.valid_to IS NULL OR a.valid_to > %(at)s)
  UNION
  SELECT e.id, e.kind || ':' || e.slug FROM entities e
  WHERE e.scope_ref = ANY(%(scopes)s) AND e.kind = ANY(%(kinds)s) AND e.slug = ANY(%(slugs)s)
  UNION
  SELECT e.id, e.id::text FROM entities e WHERE e.id = ANY(%(ids)s)
  UNION
  SELECT e.id, 'me' FROM entities e WHERE e.scope_ref = %(own)s AND e.is_self
), taken AS (
  SELECT id AS survivor, id FROM named
  UNION
  SELECT taken.survivor, m.source_id FROM entity_merges m JOIN taken ON m.target_id = taken.id WHERE m.tick_to IS NULL
)
SELECT named.key, e.id, e.kind, e.slug, e.canonical_name, e.scope_ref, e.is_self,
  ARRAY(SELECT taken.id FROM taken WHERE taken.survivor = e.id)
FROM named JOIN entities e ON e.id = named.id
WHERE e.status <> 'merged'
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedEntity:
    """Something the message speaks of. `said` is how; `ids` are all under which facts of it may stand."""

    id: UUID
    kind: str
    ref: str
    name: str
    scope_ref: str
    is_self: bool
    said: str
    ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unclear:
    """A name that several bear in the nearest scope that has any."""

    said: str
    place: int
    candidates: tuple[LinkedEntity, ...]


@dataclass(slots=True, kw_only=True)
class Links:
    """What was found: `entities` in the order in which they are named, `contexts` those that the caller named.

    `me` is the person whose memory it is, named or not.
    """

    entities: list[LinkedEntity] = field(default_factory=list)
    unclear: list[Unclear] = field(default_factory=list)
    contexts: list[LinkedEntity] = field(default_factory=list)
    me: LinkedEntity | None = None

    @property
    def is_empty(self) -> bool:
        return not self.entities and not self.unclear

    def add(self, entity: LinkedEntity) -> None:
        if all(entity.id != known.id for known in self.entities):
            self.entities.append(entity)


def link(*, principal: Principal, text: str, named: Sequence[str], at: datetime) -> Links:
    """The entities that a text speaks of, and those that `named` refers to. Within an open scope; one question to the
    database, and a few more where a word with a capital is no name and no word.

    Raises:
        NotFound: something in `named` is missing or foreign.
    """
    message = read(text)
    scopes = references.in_order(principal.read_scopes, principal.default_scope)
    found = _look_up(
        principal,
        keys={key for mention in message.mentions for key in mention.keys},
        refs=[*message.refs, *filter(None, map(references.split_ref, named))],
        ids=[id for ref in named if (id := references.as_uuid(ref))],
        at=at,
    )
    own = found.get("me", [])
    links = Links(me=own[0] if own else None)
    links.contexts = [_context(ref, found, scopes) for ref in named]
    placed: list[tuple[int, LinkedEntity]] = []
    taken: set[int] = set()
    for mention, bearers in _longest_first(message, found, scopes):
        taken.update(range(mention.start, mention.end))
        if len(bearers) == 1:
            placed.append((mention.start, replace(bearers[0], said=mention.text)))
        else:
            links.unclear.append(Unclear(said=mention.text, place=mention.start, candidates=bearers))
    if message.says_self and links.me:
        links.add(links.me)
    for kind, slug in message.refs:
        for entity in _nearest(found.get(f"{kind}:{slug}", ()), scopes)[:1]:
            links.add(replace(entity, said=entity.ref))
    for _place, entity in sorted(placed, key=lambda pair: pair[0]):
        links.add(entity)
    for word in message.leftovers(taken)[:_MOST_LEFTOVERS]:
        for entity in _alike(word, principal, at):
            links.add(entity)
    return links


def referred(*, principal: Principal, refs: Sequence[str], at: datetime) -> list[LinkedEntity]:
    """What references name that were just read from the graph, in their order; within an open scope."""
    scopes = references.in_order(principal.read_scopes, principal.default_scope)
    found = _look_up(principal, refs=list(filter(None, map(references.split_ref, refs))), at=at)
    return [entity for ref in refs for entity in _nearest(found.get(ref, ()), scopes)[:1]]


def _look_up(
    principal: Principal,
    *,
    keys: Iterable[str] = (),
    refs: Iterable[tuple[str, str]] = (),
    ids: Iterable[UUID] = (),
    at: datetime,
) -> dict[str, list[LinkedEntity]]:
    """Whatever bears one of the keys, by key: a search key, `kind:slug`, an id, or `me`."""
    wanted = list(refs)
    parameters: dict[str, Any] = {
        "scopes": list(principal.read_scopes),
        "keys": sorted(keys),
        "kinds": [kind for kind, _slug in wanted],
        "slugs": [slug for _kind, slug in wanted],
        "ids": list(ids) or [_NOBODY],
        "own": principal.read_scopes[0],
        "at": at,
    }
    found: dict[str, list[LinkedEntity]] = {}
    with connection.cursor() as cursor:
        cursor.execute(_LOOK_UP, parameters)
        for key, id, kind, slug, name, scope_ref, is_self, taken in cursor.fetchall():
            entity = LinkedEntity(
                id=id,
                kind=kind,
                ref=f"{kind}:{slug}",
                name=name,
                scope_ref=scope_ref,
                is_self=is_self,
                said=name,
                ids=tuple(taken),
            )
            found.setdefault(key, []).append(entity)
    return found


def _context(ref: str, found: dict[str, list[LinkedEntity]], scopes: Sequence[str]) -> LinkedEntity:
    """What the caller named; of something merged, what it was merged into."""
    key = "me" if ref in references.SELF_REFS else str(references.as_uuid(ref) or ref)
    nearest = _nearest(found.get(key, ()), scopes)
    if nearest:
        return nearest[0]
    survivor = references.find(ref, scopes=scopes, field="applies_to")
    return _linked(survivor)


def _linked(entity: Entity) -> LinkedEntity:
    return LinkedEntity(
        id=entity.pk,
        kind=entity.kind,
        ref=entity.ref,
        name=entity.canonical_name,
        scope_ref=entity.scope_ref,
        is_self=entity.is_self,
        said=entity.canonical_name,
        ids=(entity.pk,),
    )


def _longest_first(
    message: Message, found: dict[str, list[LinkedEntity]], scopes: Sequence[str]
) -> Iterable[tuple[Mention, tuple[LinkedEntity, ...]]]:
    """Each run of words that is a name, with its bearers; a word belongs to the longest name it is in."""
    taken: set[int] = set()
    for mention in sorted(message.mentions, key=lambda mention: (mention.start - mention.end, mention.start)):
        if taken.isdisjoint(range(mention.start, mention.end)) and (
            bearers := _bearers(mention, message, found, scopes)
        ):
            taken.update(range(mention.start, mention.end))
            yield mention, bearers


def _bearers(
    mention: Mention, message: Message, found: dict[str, list[LinkedEntity]], scopes: Sequence[str]
) -> tuple[LinkedEntity, ...]:
    """Who bears a name as it is written, else as it may be spelt; in the nearest scope that has any."""
    for key in mention.keys:
        bearers = _nearest([entity for entity in found.get(key, ()) if entity.kind not in SHELVES], scopes)
        if mention.end - mention.start == 1 and not message.tells_a_name(mention):
            is_ordinary = key in COMMON_WORDS
            bearers = [e for e in bearers if not is_stop_word(key) and not (is_ordinary and e.kind in _CALLED_BY_NAME)]
        if bearers:
            return tuple({entity.id: entity for entity in bearers}.values())
    return ()


def _nearest(entities: Iterable[LinkedEntity], scopes: Sequence[str]) -> list[LinkedEntity]:
    for scope_ref in scopes:
        here = [entity for entity in entities if entity.scope_ref == scope_ref]
        if here:
            return sorted(here, key=lambda entity: (entity.ref, entity.id))
    return []


def _alike(word: str, principal: Principal, at: datetime) -> list[LinkedEntity]:
    """The one thing whose name is so like a word that it must be a slip; [] where there are two."""
    keys = search_keys(word)
    places = names.find(keys, status=Entity.Status.ACTIVE, limit=10)
    shares = names.likeness(places, keys)
    likely = {id for id, share in shares.items() if share >= _ALIKE}
    if len(likely) != 1:
        return []
    found = _look_up(principal, ids=likely, at=at)
    alike = [entity for id in likely for entity in found.get(str(id), ())]
    return [replace(entity, said=word) for entity in alike if entity.kind not in SHELVES]
