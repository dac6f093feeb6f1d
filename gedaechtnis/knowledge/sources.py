"""What a statement may rest on: what its agent observed, or wanted remembered."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from gedaechtnis.identity.principals import Principal, user_scope
from gedaechtnis.knowledge.agents import reading
from gedaechtnis.knowledge.models import HotEntry, Observation, OwnedModel
from gedaechtnis.memory.references import as_uuid

_KINDS: dict[str, type[OwnedModel]] = {"obs": Observation, "hot": HotEntry}


def unknown_sources(principal: Principal, scope_ref: str, refs: Sequence[str]) -> list[int]:
    """The places of the references, `obs:<id>` or `hot:<id>`, that are nothing the principal keeps in a workspace.

    An agent rests on its own, a person also on what their agents keep.
    """
    asked = [_read(ref) for ref in refs]
    if principal.sub is None or scope_ref not in principal.read_scopes:
        return list(range(len(refs)))
    kept = {"scope_ref": scope_ref, "owner_ref": user_scope(principal.sub)}
    if not principal.is_person:
        kept["agent"] = principal.agent_role
    known: set[tuple[str, UUID]] = set()
    with reading(principal):
        for kind, model in _KINDS.items():
            ids = [id for of, id in asked if of == kind and id]
            rows = model._default_manager.filter(pk__in=ids, **kept) if ids else model._default_manager.none()
            known |= {(kind, id) for id in rows.values_list("pk", flat=True)}
    return [place for place, one in enumerate(asked) if one not in known]


def _read(ref: str) -> tuple[str, UUID | None]:
    """In one spelling only: in another one it would pass for a further source."""
    kind, _colon, said = ref.partition(":")
    id = as_uuid(said)
    return kind, id if str(id) == said else None
