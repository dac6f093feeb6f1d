"""Each verb as a request: how it is sent and what its answer means. Nothing here sends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import quote
from uuid import uuid4

from gedaechtnis.client.decoding import decode
from gedaechtnis.client.models import (
    Consolidated,
    Context,
    Entity,
    Fact,
    Facts,
    Harmonized,
    HotEntry,
    Notes,
    Observation,
    OperationResult,
    Posted,
    Preamble,
    Proposal,
    Resolved,
    SearchAnswer,
    Tool,
    ToolAnswer,
)

T = TypeVar("T")
Moment = datetime | str
"""An aware instant, or a text as the API takes it: `2026-05`, `2026-05-01T10:00:00+02:00`, a `basis`."""

_LEFT_OUT: Any = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class Request(Generic[T]):
    """What to send. One that `is_safe` may be sent twice: it only asks, or carries an idempotency key."""

    method: str
    path: str
    read: Callable[[Any], T]
    params: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    is_safe: bool = True
    is_raw: bool = False


@dataclass(frozen=True, slots=True)
class Pages(Generic[T]):
    """A collection that comes in pages, whose items are of one kind."""

    path: str
    kind: type[T]
    params: Mapping[str, Any]

    def page(self, cursor: str | None) -> Request[tuple[list[T], str | None]]:
        params = {**self.params, "cursor": cursor}
        return Request(method="GET", path=self.path, params=_given(params), read=self._read)

    def _read(self, body: Any) -> tuple[list[T], str | None]:
        return [decode(self.kind, item) for item in body["items"]], body["cursor"]


# Telling


def add(
    subject: str,
    predicate: str,
    value: Any = None,
    *,
    object: str | None = None,
    valid_from: Moment | None = None,
    valid_to: Moment | None = None,
    confidence: float = 1.0,
    run_id: str | None = None,
    **more: Any,
) -> Request[OperationResult]:
    """State one fact: a `value`, or with `object` a relationship to the entity of that reference.

    `more` are further fields of the operation, such as `polarity`, `memory_type`, `applies_to_ref`, `evidence`.
    An agent's statement waits for the person: `outcome` is "pending" then.
    """
    target = {"op": "assert_fact", "object_value": value}
    if object is not None:
        target = {"op": "assert_relationship", "object_ref": object}
    bounds = _given({"valid_from": _moment(valid_from), "valid_to": _moment(valid_to)})
    operation = {"subject_ref": subject, "predicate": predicate, "confidence": confidence, **target, **bounds, **more}
    return _proposal([operation], run_id, lambda body: decode(OperationResult, body["results"][0]))


def add_entity(
    kind: str, name: str, *, aliases: Sequence[str] = (), run_id: str | None = None
) -> Request[OperationResult]:
    """Make a thing known; one that bears the name already is found instead (`restated`)."""
    operation = {"op": "upsert_entity", "id_hint": "new", "kind": kind, "canonical_name": name, "aliases": [*aliases]}
    return _proposal([operation], run_id, lambda body: decode(OperationResult, body["results"][0]))


def propose(operations: Iterable[Mapping[str, Any]], *, run_id: str | None = None) -> Request[list[OperationResult]]:
    """Several operations in one transaction, with an outcome for each."""
    return _proposal(
        [dict(operation) for operation in operations],
        run_id,
        lambda body: [decode(OperationResult, result) for result in body["results"]],
    )


def say(text: str, *, chat: str = "main", sent_at: Moment | None = None) -> Request[Posted]:
    """Write a message into a chat; what it tells is learned from it afterwards."""
    body = _given({"text": text, "sent_at": _moment(sent_at)})
    return _write(f"/api/chats/{_part(chat)}/messages", body, lambda answer: decode(Posted, answer))


# Asking


def search(
    query: str,
    *,
    mode: Literal["hybrid", "keyword", "semantic"] = "hybrid",
    kinds: Sequence[str] = (),
    source_kinds: Sequence[str] = (),
    chat: str | None = None,
    predicate: str | None = None,
    time_range: tuple[Moment, Moment] | None = None,
    valid_at: Moment | None = None,
    known_at: Moment | None = None,
    limit: int = 10,
    cursor: str | None = None,
) -> Request[SearchAnswer]:
    """Find facts, things and turns of conversations, the best first."""
    body = {
        "query": query,
        "mode": mode,
        "kinds": [*kinds],
        "source_kinds": [*source_kinds],
        "chat": chat,
        "predicate": predicate,
        "time_range": [_moment(bound) for bound in time_range] if time_range else None,
        "valid_at": _moment(valid_at),
        "known_at": _moment(known_at),
        "limit": limit,
        "cursor": cursor,
    }
    return _ask("/api/world/search", _given(body), lambda answer: decode(SearchAnswer, answer))


def context(
    text: str,
    *,
    chat_id: str | None = None,
    applies_to: Sequence[str] = (),
    task: str | None = None,
    repo: str | None = None,
    budget_tokens: int = 2000,
    valid_at: Moment | None = None,
    known_at: Moment | None = None,
) -> Request[Context]:
    """What to know before a run that answers `text`, as a block for its prompt: rules, notes and facts."""
    body = {
        "text": text,
        "chat_id": chat_id,
        "applies_to": [*applies_to],
        "task": task,
        "repo": repo,
        "budget_tokens": budget_tokens,
        "valid_at": _moment(valid_at),
        "known_at": _moment(known_at),
    }
    return _ask("/api/world/context", _given(body), lambda answer: decode(Context, answer))


def preamble(task: str = "", *, repo: str | None = None, scope_ref: str | None = None) -> Request[Preamble]:
    """What a run is told first: the rules in force, its agent's notes, and a few facts that its task's words find."""
    body = _given({"task": task, "repo": repo, "scope_ref": scope_ref})
    return _ask("/api/knowledge/preamble", body, lambda answer: decode(Preamble, answer))


def get(ref: str) -> Request[Entity]:
    """A thing by its UUID, `kind:slug`, or `me`."""
    return _get(f"/api/world/entities/{_part(ref)}", Entity)


def get_fact(fact_id: str) -> Request[Fact]:
    """A fact, believed or not."""
    return _get(f"/api/world/facts/{_part(fact_id)}", Fact)


def facts(
    ref: str, *, predicate: str | None = None, applies_to: str | None = None, known_at: Moment | None = None
) -> Request[Facts]:
    """What holds now of a thing."""
    return _facts(ref, predicate=predicate, applies_to=applies_to, known_at=_moment(known_at))


def state_at(ref: str, at: Moment, *, predicate: str | None = None) -> Request[Facts]:
    """What held of a thing at an instant, as is known today."""
    return _facts(ref, predicate=predicate, valid_at=_moment(at))


def as_known_at(
    ref: str, at: Moment, *, valid_at: Moment | None = None, predicate: str | None = None
) -> Request[Facts]:
    """What was believed of a thing at an instant; `at` may be the `basis` of an earlier answer."""
    return _facts(ref, predicate=predicate, known_at=_moment(at), valid_at=_moment(valid_at))


def resolve(name: str, *, kind: str | None = None) -> Request[Resolved]:
    """What a name means."""
    return _get("/api/world/resolve", Resolved, ref=name, kind=kind)


def list_entities(q: str = "", *, kind: str | None = None, limit: int = 50) -> Pages[Entity]:
    """Things by name, all pages one after the other; `limit` is the size of a page."""
    return Pages("/api/world/entities", Entity, {"q": q, "kind": kind, "limit": limit})


def history(
    ref: str, *, predicate: str | None = None, beliefs: Literal["believed", "all"] = "believed", limit: int = 50
) -> Pages[Fact]:
    """Everything that held of a thing; `beliefs="all"` adds what is no longer believed."""
    params = {"predicate": predicate, "beliefs": beliefs, "limit": limit}
    return Pages(f"/api/world/entities/{_part(ref)}/history", Fact, params)


def export() -> Request[bytes]:
    """All that is in one's own scope, with its history, as JSON Lines."""
    return Request(method="GET", path="/api/export", read=bytes, is_raw=True)


# Putting right


def update(
    fact_id: str,
    *,
    object_value: Any = _LEFT_OUT,
    object_ref: str = _LEFT_OUT,
    polarity: bool = _LEFT_OUT,
    valid_from: Moment = _LEFT_OUT,
    valid_to: Moment | None = _LEFT_OUT,
    statement: str | None = _LEFT_OUT,
) -> Request[OperationResult]:
    """It was wrong all along: only what is named changes; `valid_to=None` opens the end."""
    changes = {
        "object_value": object_value,
        "object_ref": object_ref,
        "polarity": polarity,
        "valid_from": valid_from if valid_from is _LEFT_OUT else _moment(valid_from),
        "valid_to": valid_to if valid_to is _LEFT_OUT else _moment(valid_to),
        "statement": statement,
    }
    named = {name: value for name, value in changes.items() if value is not _LEFT_OUT}
    return _verb(fact_id, "correct", named)


def delete(fact_id: str, *, reason: str | None = None) -> Request[OperationResult]:
    """It never held. What was believed stays in the history."""
    return _verb(fact_id, "invalidate", _given({"reason": reason}))


def end(fact_id: str, at: Moment | None = None, *, reason: str | None = None) -> Request[OperationResult]:
    """It stopped holding, now or `at`; what held before stays."""
    return _verb(fact_id, "end", _given({"at": _moment(at), "reason": reason}))


def proposals(state: Literal["open", "accepted", "rejected", "all"] = "open", *, limit: int = 50) -> Pages[Proposal]:
    """What waits for the person, or was decided."""
    return Pages("/api/world/proposals", Proposal, {"state": state, "limit": limit})


def accept(proposal_id: str, *, candidate_id: str | None = None, reason: str | None = None) -> Request[OperationResult]:
    """Carry it out on the person's authority; a question is answered with one of its candidates."""
    body = _given({"candidate_id": candidate_id, "reason": reason})
    return _write(f"/api/world/proposals/{_part(proposal_id)}/accept", body, _result, is_safe=False)


def reject(proposal_id: str, *, reason: str | None = None) -> Request[OperationResult]:
    """Decline it; the same is not suggested again."""
    body = _given({"reason": reason})
    return _write(f"/api/world/proposals/{_part(proposal_id)}/reject", body, _result, is_safe=False)


# Tools for models


def tools() -> Request[list[Tool]]:
    """The tools that the token may use."""
    return Request(method="GET", path="/api/tools", read=lambda body: [decode(Tool, item) for item in body["items"]])


def call_tool(name: str, arguments: Mapping[str, Any] | None = None) -> Request[ToolAnswer]:
    """Use one: a text for a model, and the same as data."""
    return _write(
        f"/api/tools/{_part(name)}", dict(arguments or {}), lambda body: decode(ToolAnswer, body), is_safe=False
    )


# Keeping for oneself


def notes() -> Request[Notes]:
    """An agent's own notes, which nobody else in the workspace reads."""
    return _get("/api/knowledge/notes", Notes)


def update_notes(text: str, *, based_on_version: int | None = None) -> Request[Notes]:
    """Write them anew, on top of the version that was read; `Conflict` where they were changed meanwhile."""
    body = _given({"text": text, "based_on_version": based_on_version})
    return Request(method="PUT", path="/api/knowledge/notes", body=body, read=lambda answer: decode(Notes, answer))


def record_observation(text: str) -> Request[Observation]:
    """Keep what was noticed, as a source and below the notes."""
    path = "/api/knowledge/observations"
    return _write(path, {"text": text}, lambda answer: decode(Observation, answer), is_safe=False)


def remember(
    text: str,
    *,
    domain: str = "general",
    topic: str = "",
    repo: str | None = None,
    session_id: str | None = None,
    memory_type: str = "note",
) -> Request[HotEntry]:
    """Keep something at once and for oneself, before it is decided whether it lasts."""
    said = {"text": text, "domain": domain, "topic": topic, "memory_type": memory_type}
    body = _given({**said, "repo": repo, "session_id": session_id})
    return _write("/api/knowledge/hot", body, lambda answer: decode(HotEntry, answer), is_safe=False)


def consolidate(*, session_id: str | None = None, limit: int | None = None) -> Request[Consolidated]:
    """Propose what was remembered; again until nothing is `left`. Sent twice, nothing is proposed twice."""
    body = _given({"session_id": session_id, "limit": limit})
    return _ask("/api/knowledge/consolidate", body, lambda answer: decode(Consolidated, answer))


def harmonize(*, domain: str | None = None, repo: str | None = None, limit: int | None = None) -> Request[Harmonized]:
    """Have a person asked about statements of different agents that contradict each other, each pair once."""
    body = _given({"domain": domain, "repo": repo, "limit": limit})
    return _write("/api/knowledge/harmonize", body, lambda answer: decode(Harmonized, answer), is_safe=False)


def _facts(ref: str, **params: Any) -> Request[Facts]:
    return _get(f"/api/world/entities/{_part(ref)}/facts", Facts, **params)


def _get(path: str, model: type[T], /, **params: Any) -> Request[T]:
    return Request(method="GET", path=path, params=_given(params), read=lambda body: decode(model, body))


def _ask(path: str, body: Mapping[str, Any], read: Callable[[Any], T]) -> Request[T]:
    return Request(method="POST", path=path, body=body, read=read)


def _write(
    path: str, body: Mapping[str, Any], read: Callable[[Any], T], *, key: str | None = None, is_safe: bool = True
) -> Request[T]:
    """With a key of its own, under which the server does it once, however often it is sent. Some routes know no key."""
    headers = {"Idempotency-Key": key or uuid4().hex} if is_safe else {}
    return Request(method="POST", path=path, body=body, read=read, headers=headers, is_safe=is_safe)


def _proposal(operations: list[dict[str, Any]], run_id: str | None, read: Callable[[Any], T]) -> Request[T]:
    return _write("/api/world/proposals", {"operations": operations}, read, key=run_id)


def _verb(fact_id: str, verb: str, body: Mapping[str, Any]) -> Request[OperationResult]:
    return _write(f"/api/world/facts/{_part(fact_id)}/{verb}", body, _result)


def _result(body: Any) -> OperationResult:
    return decode(OperationResult, body)


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _moment(at: Moment | None) -> str | None:
    return at.isoformat() if isinstance(at, datetime) else at


def _part(text: str) -> str:
    return quote(text, safe=":")
