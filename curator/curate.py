"""One pass of the curator over a chat: read, think with no transaction open, write, move the watermark."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from uuid import UUID

from curator import prefilter, routing, validator
from curator.context import Reading, load_curator_context
from curator.extractors import Extractor
from curator.extractors.builtin import BuiltinExtractor
from curator.judging import judge_messages
from curator.models import CuratorRun, CuratorState
from curator.vocabulary import snapshot
from gedaechtnis.common import clock
from gedaechtnis.common.ids import uuid7
from gedaechtnis.identity import principals
from gedaechtnis.identity.models import User
from gedaechtnis.memory import events
from gedaechtnis.memory.schemas import MemoryMutationProposal, Operation
from gedaechtnis.memory.services.commit import commit_proposal
from gedaechtnis.memory.writing import freetext
from gedaechtnis.memory.writing.shelf import Meanings
from gedaechtnis.scoping.context import scope

logger = logging.getLogger(__name__)

CURATOR_RAN = "curator.ran"
NOTHING_FOUND = "nothing_found"


@dataclass(frozen=True, slots=True)
class Thought:
    """What the curator would do with a window: operations, which of them wait, or why it skips."""

    operations: tuple[Operation, ...] = ()
    review: frozenset[int] = frozenset()
    skipped_because: str = ""


def curate(*, user: User, chat_id: UUID, org_id: UUID | None = None, extractor: Extractor | None = None) -> int:
    """Read a chat to its end, window by window; returns the number of windows taken in.

    `org_id` is where the person spoke; if they have left it meanwhile, it is read as in their first one.
    Safe to run twice and side by side: the watermark moves in the transaction of the commit,
    and of two runs over the same window only the first one writes.
    """
    person = principals.person(user, principals.still_in(user, org_id))
    windows = 0
    while reading := load_curator_context(principal=person, chat_id=chat_id, now=clock.now()):
        thought = think(reading, extractor or BuiltinExtractor())
        # Asked here, as no model is while a scope is open.
        meanings = freetext.meanings_of(thought.operations)
        if not _write(user, chat_id, org_id, reading, thought, meanings):
            break
        windows += 1
    return windows


def think(reading: Reading, extractor: Extractor) -> Thought:
    """Prefilter, extract, validate, route. Pure but for the extractor itself."""
    decision = prefilter.decide(reading.window)
    if decision.skip:
        return Thought(skipped_because=decision.reason)
    proposal = extractor.extract(reading.window)
    if proposal is None:
        return Thought(skipped_because=NOTHING_FOUND)
    registry = snapshot()
    accepted, rejections = validator.validate(proposal, reading.window, registry)
    for rejection in rejections:
        logger.info("curator operation %s refused: %s", rejection.op_index, rejection.code)
    if not accepted:
        return Thought(skipped_because=rejections[0].code if rejections else NOTHING_FOUND)
    waiting = frozenset(
        index
        for index, op in enumerate(accepted)
        if routing.route(op, reading.window, registry) is routing.Route.REVIEW
    )
    return Thought(operations=tuple(accepted), review=waiting)


def _write(
    user: User, chat_id: UUID, org_id: UUID | None, reading: Reading, thought: Thought, meanings: Meanings
) -> bool:
    """Commit and move the watermark in one transaction; False if another run was faster."""
    curator = principals.curator(user, principals.still_in(user, org_id))
    own = curator.default_scope
    run_id = f"curator-{chat_id}-{reading.last_seq}"
    with scope(curator, write=own):
        state = lock_state(own, chat_id)
        if state.watermark != reading.watermark:
            return False
        outcomes: list[dict[str, object]] = []
        if thought.operations:
            result = commit_proposal(
                principal=curator,
                proposal=MemoryMutationProposal(run_id=run_id, chat_id=chat_id, operations=list(thought.operations)),
                scope_ref=own,
                review=thought.review,
                meanings=meanings,
            )
            judge_messages(own, thought.operations, result.results)
            outcomes = [
                {"op": op.op, "outcome": entry.outcome, "code": entry.code}
                for op, entry in zip(thought.operations, result.results, strict=True)
            ]
        state.watermark = reading.last_seq
        state.pending_turns = 0
        state.save(update_fields=["watermark", "pending_turns"])
        run = CuratorRun.objects.create(
            id=uuid7(),
            scope_ref=own,
            chat_id=chat_id,
            run_id=run_id,
            first_seq=reading.first_seq,
            last_seq=reading.last_seq,
            outcome=CuratorRun.Outcome.COMMITTED if thought.operations else CuratorRun.Outcome.SKIPPED,
            skipped_because=thought.skipped_because[:50],
            operations=outcomes,
            ran_at=clock.now(),
        )
        events.publish_on_commit(own, CURATOR_RAN, [run.pk])
    return True


def lock_state(scope_ref: str, chat_id: UUID) -> CuratorState:
    """The chat's reading state, locked until the transaction ends."""
    CuratorState.objects.bulk_create([CuratorState(scope_ref=scope_ref, chat_id=chat_id)], ignore_conflicts=True)
    return CuratorState.objects.select_for_update().get(scope_ref=scope_ref, chat_id=chat_id)
