"""Searching: four voices propose, one weighted sum orders, the graph decides what is told."""

from __future__ import annotations

from django.utils.translation import gettext as _

from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory.references import as_uuid
from gedaechtnis.memory.selectors import moments
from gedaechtnis.memory.selectors.moments import Moment
from gedaechtnis.memory.selectors.recall import answering, gathering, meaning, paging, people, question
from gedaechtnis.memory.selectors.recall import query as queries
from gedaechtnis.memory.selectors.recall.filters import Filters
from gedaechtnis.memory.selectors.recall.hits import MAX_LIMIT, Hit, SearchAnswer, SearchQuery
from gedaechtnis.memory.selectors.recall.meaning import Asked
from gedaechtnis.memory.selectors.recall.question import Question
from gedaechtnis.scoping.context import scope


def search(*, principal: Principal, query: SearchQuery) -> SearchAnswer:
    """What a question finds among facts, entities and conversations, as the principal may see it.

    Raises:
        Problem: `empty_query`, `invalid_limit`, `invalid_chat`, `invalid_cursor`.
    """
    _check(query)
    kept = queries.keep(query.text)
    offset = paging.offset_of(query)
    says_something = bool(queries.terms(kept.text))
    with scope(principal, is_planned_once=True):
        named = people.named_in(kept.text, own_scope=principal.read_scopes[0])
    # The model may be far away, so it is asked while no scope is open.
    is_meant = says_something and query.mode != "keyword"
    asked = meaning.ask(*queries.phrasings(kept.text, named.speaker_words)) if is_meant else meaning.NOT_ASKED
    wanted = offset + query.limit
    with scope(principal, is_planned_once=True):
        moment = moments.settle(principal=principal, valid_at=query.valid_at, known_at=query.known_at)
        understood = question.understand(kept.text, named, mode=query.mode, principal=principal, moment=moment)
        hits: list[Hit] = []
        if says_something or understood.periods:
            weighed = gathering.gather(understood, asked, _filters(query, moment, understood), moment)
            hits = answering.hits(
                weighed,
                moment,
                most=wanted + 1,
                asks_of_earlier=understood.asks_of_earlier,
                repo=query.repo,
                asks_for_names=queries.asks_for_names(kept.text) or query.predicate == "name",
            )
    return SearchAnswer(
        hits=tuple(hits[offset:wanted]),
        missing=_missing(understood, asked, clearance=principal.clearance, says_something=says_something),
        basis=moment.basis,
        cursor=paging.cursor(query, wanted) if len(hits) > wanted else None,
        is_truncated=kept.is_truncated,
        used_length=kept.used_length,
    )


def _check(query: SearchQuery) -> None:
    if not 1 <= query.limit <= MAX_LIMIT:
        raise Problem(
            "invalid_limit", _("The limit must be between 1 and %(max)s.") % {"max": MAX_LIMIT}, field="limit"
        )
    if query.chat is not None and as_uuid(query.chat) is None:
        raise Problem("invalid_chat", _("“%(chat)s” is no conversation.") % {"chat": query.chat[:80]}, field="chat")


def _filters(query: SearchQuery, moment: Moment, understood: Question) -> Filters:
    goes_back = query.valid_at is not None or query.known_at is not None
    return Filters(
        ticks=moment.ticks,
        is_of_today=not goes_back and not understood.asks_of_earlier,
        source_kinds=query.source_kinds,
        kinds=query.kinds,
        predicate=query.predicate,
        chat_id=as_uuid(query.chat) if query.chat else None,
        valid_at=moment.valid_at if goes_back else None,
        said_until=min(moment.valid_at, moment.known_at) if goes_back else None,
        time_range=query.time_range,
    )


def _missing(understood: Question, asked: Asked, *, clearance: int, says_something: bool) -> tuple[str, ...]:
    notes = list(asked.missing)
    if not says_something:
        notes.append(_("lexical: the query has no word to look for"))
    if understood.words.terms_pending:
        notes.append(_("lexical: some of the latest is not indexed yet"))
    if asked.vector is not None and understood.words.vectors_pending:
        notes.append(_("semantic: some of the latest has no vector yet"))
    if asked.vector is not None and asked.clearance < clearance:
        notes.append(_("semantic: what is too sensitive for the model is found by its words alone"))
    return tuple(notes)
