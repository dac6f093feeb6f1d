"""Consolidation: what an agent remembered becomes proposals, said once each, and a person decides about them.

Nothing is believed by it but a person's own words, and nothing is erased: what is merged, or known already, stays to be
read in the hot tier with where it went. Each batch of entries and their proposals is one transaction. So whoever is
killed loses nothing and proposes nothing twice; the next call goes on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from gedaechtnis.common import canonical
from gedaechtnis.common.likeness import essence
from gedaechtnis.common.problems import Problem
from gedaechtnis.common.text import check_text, fold_space
from gedaechtnis.identity.principals import Principal
from gedaechtnis.knowledge import domains, facts, merging
from gedaechtnis.knowledge.agents import Keeper, keeper_of, writing
from gedaechtnis.knowledge.hot import MAX_SESSION
from gedaechtnis.knowledge.models import HotEntry
from gedaechtnis.knowledge.pads import NOTES_CHANGED
from gedaechtnis.memory import events
from gedaechtnis.memory.schemas import (
    MAX_SOURCES,
    AssertFact,
    MemoryMutationProposal,
    MemoryType,
    Operation,
    OperationResult,
    Outcome,
)
from gedaechtnis.memory.services.commit import commit_proposal, raise_refusal
from gedaechtnis.memory.writing import freetext, proposals
from gedaechtnis.memory.writing.shelf import PREDICATE, Meanings
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import Fact, Proposal

DEFAULT_LIMIT, MAX_LIMIT = 500, 2_000
"""Entries that one call looks at."""
BATCH = 50
"""Sentences that one transaction proposes; others of the scope wait for it as long."""
_SHOWN = 5
"""Other wordings that a person is shown."""
State = HotEntry.State


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidated:
    """What became of how many entries; `left` are still hot. `proposals` is what waits for a person because of it."""

    promoted: int
    merged: int
    known: int
    dropped: int
    left: int
    proposals: tuple[UUID, ...]


class _Place(NamedTuple):
    """Where sentences are compared with each other."""

    domain: str
    topic: str


class _Said(NamedTuple):
    """A sentence in a place, whatever changes nothing of it."""

    place: _Place
    essence: str


def consolidate(
    *,
    principal: Principal,
    scope_ref: str | None = None,
    session_id: str | None = None,
    limit: int = DEFAULT_LIMIT,
) -> Consolidated:
    """Propose what the calling agent remembered in a workspace, the oldest `limit` entries, or those of a session.

    Those that say the same become one proposal that names them as its sources. What is believed is not proposed, what
    waits is not proposed again, and what a person declined is dropped. A person's own words count at once.
    Call again until nothing is `left`.

    Raises:
        Problem: `scope_denied`, `person_required` (403); `too_long`, `invalid_text` of the session; `quota_exceeded`
            (409), and then the entries at hand stay hot.
    """
    check_text(session_id or "", field="session_id", limit=MAX_SESSION)
    keeper = keeper_of(principal, scope_ref)
    with scope(principal):
        entries = list(_hot(keeper, session_id).order_by("recorded_at", "id")[:limit])
    operations: list[Operation] = []
    fit: list[HotEntry] = []
    unfit: list[HotEntry] = []
    for entry in entries:
        try:
            operations += _operations(entry)
        except Problem:  # it came with an import: what is remembered here is checked before
            unfit.append(entry)
            continue
        fit.append(entry)
    meanings = freetext.meanings_of(operations)
    decided = _drop(principal, keeper, unfit)
    for batch in _batches(_merged(fit, meanings)):
        decided += _decide(principal, keeper, batch, meanings)
    with scope(principal):
        left = _hot(keeper, session_id).count()
    return Consolidated(
        **{state: sum(entry.state == state for entry in decided) for state in list(State) if state != State.HOT},
        left=left,
        proposals=tuple(dict.fromkeys(entry.proposal_id for entry in decided if entry.proposal_id)),
    )


def _hot(keeper: Keeper, session_id: str | None) -> QuerySet[HotEntry]:
    rows = HotEntry.objects.filter(**keeper.columns, state=State.HOT)
    return rows if session_id is None else rows.filter(session_id=session_id)


def _operations(entry: HotEntry, **more: object) -> list[Operation]:
    """Its domain, and the sentence."""
    return facts.statement_operations(
        content=entry.text,
        domain=domains.parse(entry.domain),
        topic=entry.topic,
        memory_type=MemoryType(entry.memory_type),
        **more,  # type: ignore[arg-type]
    )


def _merged(entries: Sequence[HotEntry], meanings: Meanings) -> list[list[HotEntry]]:
    """Entries that say the same, the one that stands for them first; in the order of the oldest of each."""
    places: dict[_Place, list[HotEntry]] = defaultdict(list)
    for entry in entries:
        places[_place(entry)].append(entry)
    groups = [
        [there[index] for index in together]
        for there in places.values()
        for together in merging.merged([fold_space(entry.text) for entry in there], meanings.vectors)
    ]
    return sorted(groups, key=lambda group: min((entry.recorded_at, entry.pk) for entry in group))


def _place(entry: HotEntry) -> _Place:
    return _Place(entry.domain, fold_space(entry.topic).lower())


def _batches(groups: Sequence[list[HotEntry]]) -> Iterator[Sequence[list[HotEntry]]]:
    for start in range(0, len(groups), BATCH):
        yield groups[start : start + BATCH]


def _drop(principal: Principal, keeper: Keeper, entries: Sequence[HotEntry]) -> list[HotEntry]:
    """Say of entries that cannot be proposed that they are not: else they would be in the way for ever."""
    if not entries:
        return []
    with writing(principal, keeper) as written:
        still = list(HotEntry.objects.filter(pk__in=[entry.pk for entry in entries], state=State.HOT))
        for entry in still:
            entry.state, entry.decided_at = State.DROPPED, written.tick
        HotEntry.objects.bulk_update(still, ["state", "decided_at"])
    return still


def _decide(
    principal: Principal, keeper: Keeper, batch: Sequence[list[HotEntry]], meanings: Meanings
) -> list[HotEntry]:
    """Propose a batch and write down what became of its entries, all or nothing. Those that were decided."""
    with writing(principal, keeper) as written:
        ids = [entry.pk for group in batch for entry in group]
        # Under the scope's clock nobody else decides about them meanwhile; somebody may have before.
        still = HotEntry.objects.filter(pk__in=ids, state=State.HOT).in_bulk()
        groups = [[still[entry.pk] for entry in group if entry.pk in still] for group in batch]
        decided = list(still.values())
        new = _Told(keeper, decided, tick=written.tick, clearance=principal.clearance).without_told(groups)
        _propose(principal, keeper, new, meanings)
        for entry in decided:
            entry.decided_at = written.tick
        HotEntry.objects.bulk_update(decided, ["state", "proposal_id", "into_id", "decided_at"])
        events.publish_on_commit(keeper.owner_ref, NOTES_CHANGED, [entry.pk for entry in decided])
    return decided


class _Told:
    """The statements of some places that are believed now, or wait for a person: as far as the caller may see them."""

    def __init__(self, keeper: Keeper, entries: Iterable[HotEntry], *, tick: datetime, clearance: int) -> None:
        self._keeper, self._tick = keeper, tick
        self._domains = list({entry.domain for entry in entries})
        self._seen = Q(scope_ref=keeper.scope_ref, classification__lte=clearance)
        self._believed = dict(self._read_believed())
        self._waiting = dict(self._read_waiting())

    def without_told(self, groups: Sequence[list[HotEntry]]) -> list[list[HotEntry]]:
        """The groups without entries of which is known what became of them: that is set."""
        joined: dict[UUID, list[HotEntry]] = defaultdict(list)
        for entry in (entry for group in groups for entry in group):
            said = _Said(_place(entry), essence(entry.text))
            if said in self._believed:
                entry.state, entry.into_id = State.KNOWN, self._believed[said]
            elif said in self._waiting:
                entry.state, entry.proposal_id = State.MERGED, self._waiting[said].pk
                joined[self._waiting[said].pk].append(entry)
        self._join(joined)
        rest = ([entry for entry in group if entry.state == State.HOT] for group in groups)
        return [group for group in rest if group]

    def _join(self, joined: dict[UUID, list[HotEntry]]) -> None:
        if not joined:
            return
        own = HotEntry.objects.filter(**self._keeper.columns, state=State.PROMOTED, proposal_id__in=joined)
        into = dict(own.values_list("proposal_id", "pk"))
        for proposal in self._waiting.values():
            if proposal.pk in joined:
                proposals.add_sources(proposal, _refs(joined[proposal.pk]))
        for proposal_id, entries in joined.items():
            for entry in entries:
                entry.into_id = into.get(proposal_id)

    def _read_believed(self) -> Iterator[tuple[_Said, UUID]]:
        rows = Fact.objects.believed().filter(
            self._seen,
            Q(valid_to=None) | Q(valid_to__gt=self._tick),
            valid_from__lte=self._tick,
            predicate=PREDICATE,
            polarity=True,
            applies_to=None,
            domain__in=self._domains,
        )
        for row in rows.values_list("domain", "topic", "object_value", "id"):
            yield _Said(_Place(row[0], row[1]), essence(str(row[2]))), row[3]

    def _read_waiting(self) -> Iterator[tuple[_Said, Proposal]]:
        rows = Proposal.objects.filter(
            self._seen,
            state=Proposal.State.OPEN,
            operation__predicate=PREDICATE,
            operation__polarity=True,
            operation__applies_to_ref=None,
            operation__domain__in=self._domains,
        )
        for row in rows:
            place = _Place(row.operation["domain"], row.operation.get("topic") or "")
            yield _Said(place, essence(str(row.operation["object_value"]))), row


def _propose(principal: Principal, keeper: Keeper, groups: Sequence[list[HotEntry]], meanings: Meanings) -> None:
    """Propose each group as one statement, and set what became of its entries."""
    if not groups:
        return
    operations: dict[str, Operation] = {}
    for group in groups:
        with translation.override(principal.language):
            reason = _other_wordings(group)
        domain, statement = _operations(group[0], sources=_refs(group), reason=reason)
        operations.setdefault(f"domain {group[0].domain}", domain)
        operations[str(group[0].pk)] = statement
    run_id = f"consolidate-{canonical.digest('consolidate', *(str(entry.pk) for group in groups for entry in group))}"
    proposal = MemoryMutationProposal(run_id=run_id, operations=list(operations.values()))
    result = commit_proposal(principal=principal, proposal=proposal, scope_ref=keeper.scope_ref, meanings=meanings)
    results = dict(zip(operations, result.results, strict=True))
    for key, one in results.items():
        if isinstance(operations[key], AssertFact) and one.code in _NOT_WORTH_KEEPING:
            continue
        raise_refusal(one)
    for group in groups:
        _note(group, results[str(group[0].pk)])


_NOT_WORTH_KEEPING = frozenset({"suppressed", "empty_text"})
"""A person declined it before, or there is nothing in it."""


def _note(group: Sequence[HotEntry], result: OperationResult) -> None:
    lead, *others = group
    if result.outcome is Outcome.REJECTED:
        for entry in group:
            entry.state = State.DROPPED
        return
    lead.state = State.KNOWN if result.outcome is Outcome.RESTATED else State.PROMOTED
    lead.proposal_id, lead.into_id = result.proposal_id, result.fact_id
    for entry in others:
        entry.state, entry.proposal_id, entry.into_id = State.MERGED, result.proposal_id, lead.pk


def _refs(entries: Iterable[HotEntry]) -> list[str]:
    """As sources of what is proposed: as many as one may name; all name what became of them themselves."""
    return [f"hot:{entry.pk}" for entry in entries][:MAX_SOURCES]


def _other_wordings(group: Sequence[HotEntry]) -> str | None:
    """For the person who decides: how else it was remembered, as alike may still mean something else."""
    lead, *others = group
    said = {essence(entry.text): fold_space(entry.text) for entry in others}
    said.pop(essence(lead.text), None)
    if not said:
        return None
    shown = [_("“%(text)s”") % {"text": text if len(text) <= 300 else f"{text[:299]}…"} for text in said.values()]
    told = _("Remembered in other words too: %(wordings)s") % {"wordings": ", ".join(shown[:_SHOWN])}
    more = len(shown) - _SHOWN
    if more > 0:
        told += " " + ngettext("and %(count)s more", "and %(count)s more", more) % {"count": more}
    return told
