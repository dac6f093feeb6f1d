"""Harmonizing: where what agents believe, or propose, has drifted apart, a person is asked; each pair once.

What is said of one domain and topic by different voices, nearly the same and in contradiction. The committer asks about
most of it as it is written; this finds what came to be believed since, or before anybody compared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from django.db.models import Q
from django.utils.translation import gettext as _

from gedaechtnis.common import clock
from gedaechtnis.common.contrasts import contrasts
from gedaechtnis.common.likeness import SentenceIndex
from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.principals import Principal
from gedaechtnis.knowledge import domains
from gedaechtnis.knowledge.agents import workspace
from gedaechtnis.memory.selectors.voices import voices
from gedaechtnis.memory.services.contradictions import Contradiction, Raised, Side, raise_contradictions
from gedaechtnis.memory.writing.shelf import ALIKE_BY_LETTERS, PREDICATE
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import Fact, Proposal

DEFAULT_LIMIT, MAX_LIMIT = 20, 200
"""Pairs that one call puts before a person: who is asked more answers nothing."""
_LATEST, _COMPARED, _RIVALS = 200, 50, 5
"""Of each word the latest statements, of those the ones that share most words, of those the most alike: so a topic of
ten thousand is looked through in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Harmonized:
    """`raised`: what a person is asked now, for the first time. `compared`: how many statements were looked at."""

    raised: tuple[Raised, ...]
    compared: int


def harmonize(
    *,
    principal: Principal,
    scope_ref: str | None = None,
    domain: str | None = None,
    repo: str | None = None,
    limit: int = DEFAULT_LIMIT,
) -> Harmonized:
    """Ask a person about statements of a workspace, or of one domain, that contradict each other; the latest first.

    Looked at is what is believed and holds, and what waits, as far as the principal may see it. Call again until
    nothing is raised. Nothing is believed or closed by it.

    Raises:
        Problem: `scope_denied` (403); `invalid_domain`, `invalid_repo`, `conflicting_fields`; `missing` for a
            repository without a domain.
    """
    if repo and not domain:
        raise Problem("missing", _("A repository goes with a domain."), field="domain")
    key = str(domains.parse(domain, repo=repo)) if domain else None
    ref = workspace(principal, scope_ref)
    with scope(principal, write=ref):
        topics = _topics(ref, key)
    pairs = sorted(
        (pair for place, sides in topics.items() for pair in _contradictions(*place, sides)),
        key=lambda pair: pair.new.since,
        reverse=True,
    )
    raised = raise_contradictions(principal=principal, scope_ref=ref, pairs=pairs, limit=limit)
    return Harmonized(raised=raised, compared=sum(map(len, topics.values())))


def _topics(scope_ref: str, domain: str | None) -> dict[tuple[str, str], list[Side]]:
    """The statements of each topic in which more than one voice speaks: the believed ones, then those that wait."""
    sides: dict[tuple[str, str], list[Side]] = defaultdict(list)
    for place, side in (*_believed(scope_ref, domain), *_waiting(scope_ref, domain)):
        sides[place].append(side)
    return {place: found for place, found in sides.items() if len({side.voice for side in found}) > 1}


def _believed(scope_ref: str, domain: str | None) -> Iterator[tuple[tuple[str, str], Side]]:
    now = clock.now()
    rows = (
        Fact.objects.believed()
        .filter(
            Q(valid_to=None) | Q(valid_to__gt=now),
            scope_ref=scope_ref,
            valid_from__lte=now,
            predicate=PREDICATE,
            polarity=True,
            applies_to=None,
            **({"domain": domain} if domain else {}),
        )
        .exclude(domain="")
    )
    found = list(rows.values_list("domain", "topic", "object_value", "made_at", "origin_fact_id").order_by("made_at"))
    by = voices(row[-1] for row in found)
    for key, topic, text, made_at, origin_id in found:
        if origin_id in by:
            yield (key, topic), Side(text=str(text), voice=by[origin_id], since=made_at, origin_id=origin_id)


def _waiting(scope_ref: str, domain: str | None) -> Iterator[tuple[tuple[str, str], Side]]:
    rows = Proposal.objects.filter(
        scope_ref=scope_ref,
        state=Proposal.State.OPEN,
        operation__op="assert_fact",
        operation__predicate=PREDICATE,
        operation__polarity=True,
        operation__applies_to_ref=None,
        **({"operation__domain": domain} if domain else {}),
    )
    for row in rows.order_by("recorded_at", "op_index"):
        if key := row.operation.get("domain"):
            place = key, row.operation.get("topic") or ""
            text = str(row.operation["object_value"])
            yield place, Side(text=text, voice=row.proposed_by, since=row.recorded_at, proposal_id=row.pk)


def _contradictions(domain: str, topic: str, sides: Sequence[Side]) -> Iterator[Contradiction]:
    """Each pair once, from its later side; letters alone are compared, which find nearly all of them."""
    earlier = SentenceIndex[int](of_word=_LATEST)
    for place, side in enumerate(sides):
        near = sorted(earlier.alike(side.text, least=ALIKE_BY_LETTERS, most=_COMPARED), key=lambda found: -found[1])
        others = (sides[index] for index, _likeness in near if sides[index].voice != side.voice)
        for other in islice(others, _RIVALS):
            if contrasts(side.text, other.text):
                yield Contradiction(domain=domain, topic=topic, new=side, old=other)
        earlier.add(place, side.text)
