"""What the curator would learn from a conversation, without storing anything: one JSON object in, one out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from curator import prefilter, routing
from curator.extractors import Extractor
from curator.snapshot import RegistrySnapshot
from curator.validator import validate
from curator.window import KnownEntity, Window, from_preview
from gedaechtnis.common.text import name_key
from gedaechtnis.memory.schemas import Operation, UpsertEntity

_MERGE_SIMILARITY = 0.6
_MERGE_LENGTH_GAP = 3


def preview_line(line: Mapping[str, Any], extractor: Extractor, registry: RegistrySnapshot) -> dict[str, Any]:
    """Run prefilter, extractor, validator and routing over one window in the format of `window.from_preview`.

    Returns `{"id", "skipped", "operations", "reviews"}`; each operation carries its `route`. Bounds known only to the
    month or year are written out as full dates with `valid_from_precision` / `valid_to_precision` beside them.

    Raises:
        Problem: `invalid_window` if the line cannot be read.
    """
    window = from_preview(line)
    decision = prefilter.decide(window)
    proposal = None if decision.skip else extractor.extract(window)
    accepted: list[Operation] = [] if proposal is None else validate(proposal, window, registry)[0]
    causes = [routing.cause(operation, window, registry) for operation in accepted]
    reviews = {str(cause) for cause in causes if cause is not None}
    if any(isinstance(operation, UpsertEntity) and _resembles_known(operation, window) for operation in accepted):
        reviews.add("merge")
    return {
        "id": line.get("id"),
        "skipped": decision.reason if decision.skip else None,
        "operations": [
            _shown(operation) | {"route": str(routing.Route.COMMIT if cause is None else routing.Route.REVIEW)}
            for operation, cause in zip(accepted, causes, strict=True)
        ],
        "reviews": sorted(reviews),
    }


def _shown(operation: Operation) -> dict[str, Any]:
    shown: dict[str, Any] = operation.model_dump(mode="json")
    for name in ("valid_from", "valid_to"):
        text = shown.get(name)
        if isinstance(text, str) and len(text) in (4, 7) and text[:4].isdigit():
            shown[f"{name}_precision"] = "year" if len(text) == 4 else "month"
            shown[name] = f"{text}-01" if len(text) == 7 else f"{text}-01-01"
    return shown


def _resembles_known(new: UpsertEntity, window: Window) -> bool:
    return any(entity.kind == new.kind and _resembles(new.canonical_name, entity) for entity in window.known)


def _resembles(name: str, entity: KnownEntity) -> bool:
    """Plausibly the same: one name holds the other as whole words, or they begin alike and are spelt alike."""
    one, other = name_key(name), name_key(entity.name)
    if not one or not other or one == other:
        return False
    words, other_words = set(one.split()), set(other.split())
    if words <= other_words or other_words <= words:
        return True
    near = one[0] == other[0] and abs(len(one) - len(other)) <= _MERGE_LENGTH_GAP
    return near and _similarity(one, other) >= _MERGE_SIMILARITY


def _similarity(one: str, other: str) -> float:
    """Shared trigrams over all trigrams, 0 to 1."""
    first, second = _trigrams(one), _trigrams(other)
    return len(first & second) / len(first | second)


def _trigrams(text: str) -> set[str]:
    padded = f"  {text} "
    return {padded[index : index + 3] for index in range(len(padded) - 2)}
