"""What the core asks of layers above without knowing them; bound once, when the apps start."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol
from uuid import UUID

if TYPE_CHECKING:  # apps bind their ports before models are loaded
    from gedaechtnis.identity.principals import Principal


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A quotation that was found in a stored message of the person."""

    message_id: UUID
    sent_at: datetime
    zone: str


class EmbeddingsUnavailable(Exception):
    """A model cannot be asked now. `reason` says why, for people, and quotes no text."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class EmbeddingModel(Protocol):
    """Turns texts into vectors whose angle tells how near they are in meaning. Never asked while a scope is open.

    `address` is how settings and commands name it, `name` what its vectors are kept under. Nothing above `clearance` is
    sent to it. One that `looks_back` understands a turn of a conversation better with the turn before it.
    """

    @property
    def address(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def dimensions(self) -> int: ...
    @property
    def clearance(self) -> int: ...
    @property
    def looks_back(self) -> bool: ...

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> list[list[float] | None]:
        """A vector of length 1 for each text, in their order; None for a text it has none for.

        Raises:
            EmbeddingsUnavailable: it does not answer.
        """

    def warm_up(self) -> None:
        """Make ready what would hold up the first text."""


DomainGuard = Callable[["Principal", str, str, str], None]
QuoteFinder = Callable[[str, str, str], "Quote | None"]
SourceChecker = Callable[["Principal", str, Sequence[str]], "Sequence[int]"]
QuoteClassifier = Callable[[str, str, int], None]
Publisher = Callable[[str, dict[str, Any]], None]
ModelMaker = Callable[[str], EmbeddingModel]


def _no_quotes(scope_ref: str, ref: str, text: str) -> Quote | None:
    return None


def _classify_nothing(scope_ref: str, ref: str, level: int) -> None:
    return None


def _know_all_sources(principal: Principal, scope_ref: str, refs: Sequence[str]) -> Sequence[int]:
    return ()


def _allow_every_domain(principal: Principal, scope_ref: str, predicate: str, domain: str) -> None:
    return None


def _make_no_model(address: str) -> EmbeddingModel:
    raise ValueError(f"nobody makes embedding models, so not {address} either")


def _publish_nowhere(scope_ref: str, payload: dict[str, Any]) -> None:
    return None


find_quote: QuoteFinder = _no_quotes
"""(scope_ref, `msg:<id>`, text) → the message of the scope's person that contains the text, or None."""

classify_quoted: QuoteClassifier = _classify_nothing
"""(scope_ref, `msg:<id>`, level) → the message is at least as sensitive as what was learned from it."""

check_domain: DomainGuard = _allow_every_domain
"""(principal, scope_ref, predicate, domain) → raises Problem for what is no domain, or one in which the principal may
not propose such a thing."""

model_at: ModelMaker = _make_no_model
"""(address) → the embedding model it names. Raises ValueError where it names none."""

_embedding_model: EmbeddingModel | None = None

unknown_sources: SourceChecker = _know_all_sources
"""(principal, scope_ref, references) → the places of those that are nothing the principal observed in that scope."""

publish: Publisher = _publish_nowhere
"""(scope_ref, ids) → tell open windows; called after commit, must not raise."""


def bind_quote_finder(function: QuoteFinder) -> None:
    global find_quote
    find_quote = function


def bind_quote_classifier(function: QuoteClassifier) -> None:
    global classify_quoted
    classify_quoted = function


def bind_source_checker(function: SourceChecker) -> None:
    global unknown_sources
    unknown_sources = function


def bind_domain_guard(function: DomainGuard) -> None:
    global check_domain
    check_domain = function


def bind_publisher(function: Publisher) -> None:
    global publish
    publish = function


def embedding_model() -> EmbeddingModel | None:
    """The embedding model that the settings name; None where they want none."""
    return _embedding_model


def bind_embedding_model(model: EmbeddingModel | None, maker: ModelMaker) -> None:
    """Bind the model of the settings, and how others are made from their address."""
    global _embedding_model, model_at
    _embedding_model, model_at = model, maker
