"""A client for Gedächtnis over HTTP, blocking (`Gedaechtnis`) and for asyncio (`AsyncGedaechtnis`).

    with Gedaechtnis("http://127.0.0.1:8000", token) as memory:
        memory.add("pet:luna", "likes", "Thunfisch")
        print(memory.context("What does Luna like?").text)

It needs nothing of the server: only `httpx`. Both have the same verbs, defined once in `requests`.
"""

from __future__ import annotations

from gedaechtnis.client.clients import AsyncGedaechtnis, Gedaechtnis
from gedaechtnis.client.errors import (
    Conflict,
    ConnectionFailed,
    Forbidden,
    GedaechtnisError,
    Invalid,
    NotFound,
    ProblemError,
    RateLimited,
    Unauthorized,
    Unavailable,
)
from gedaechtnis.client.models import (
    Consolidated,
    Context,
    Entity,
    Fact,
    Facts,
    Harmonized,
    Hit,
    HotEntry,
    LinkedEntity,
    Notes,
    Object,
    Observation,
    OperationResult,
    Pair,
    Posted,
    Preamble,
    Proposal,
    Raised,
    Resolved,
    SearchAnswer,
    Side,
    Tool,
    ToolAnswer,
)

__all__ = [
    "AsyncGedaechtnis",
    "Conflict",
    "ConnectionFailed",
    "Consolidated",
    "Context",
    "Entity",
    "Fact",
    "Facts",
    "Forbidden",
    "Gedaechtnis",
    "GedaechtnisError",
    "Harmonized",
    "Hit",
    "HotEntry",
    "Invalid",
    "LinkedEntity",
    "NotFound",
    "Notes",
    "Object",
    "Observation",
    "OperationResult",
    "Pair",
    "Posted",
    "Preamble",
    "ProblemError",
    "Proposal",
    "Raised",
    "RateLimited",
    "Resolved",
    "SearchAnswer",
    "Side",
    "Tool",
    "ToolAnswer",
    "Unauthorized",
    "Unavailable",
]
