"""Projections as the indexer makes them, the model of the settings, and what search by meaning finds of it all."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from gedaechtnis.common import clock
from gedaechtnis.common.ids import uuid7
from gedaechtnis.embeddings import models
from gedaechtnis.identity.principals import Principal, system
from gedaechtnis.memory import ports
from gedaechtnis.memory.projecting import vectors
from gedaechtnis.memory.selectors.recall import meaning, nearest
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import Projection, ProjectionVector


def use(monkeypatch: pytest.MonkeyPatch, *made: ports.EmbeddingModel) -> None:
    """The first as the model of the settings, the others for whom asks for them."""
    by_address = {model.address: model for model in made}
    monkeypatch.setattr(ports, "_embedding_model", made[0] if made else None)
    monkeypatch.setattr(ports, "model_at", lambda address: by_address.get(address) or models.model_at(address))


def project(scope_ref: str, *texts: str, **more: Any) -> list[UUID]:
    """Projections as the indexer makes them."""
    now = clock.now()
    rows = [
        Projection(
            scope_ref=scope_ref,
            source_kind=more.get("source_kind", "fact"),
            source_id=uuid7(),
            ref=f"fact:{number}",
            text=text,
            recorded_at=now,
            touched_at=now,
            **{"classification": 2, **{name: value for name, value in more.items() if name != "source_kind"}},
        )
        for number, text in enumerate(texts)
    ]
    with scope(system(scope_ref, "index"), write=scope_ref):
        Projection.objects.bulk_create(rows)
    return [row.id for row in rows]


def projection(scope_ref: str, id: UUID) -> Projection:
    with scope(system(scope_ref, "index")):
        return Projection.objects.get(id=id)


def stored(scope_ref: str) -> dict[UUID, str]:
    with scope(system(scope_ref, "index")):
        return dict(ProjectionVector.objects.values_list("id", "model"))


def found(who: Principal, text: str, limit: int = 10) -> list[UUID]:
    """What search by meaning finds, as a reader."""
    asked = meaning.ask(text)
    with scope(who):
        return [id for id, _near in nearest.nearest(asked.vector, asked.model, None, limit)]


def embed_all(scope_ref: str) -> None:
    while vectors.embed_pending(scope_ref=scope_ref).left:
        pass
