"""Which embedding model is asked, whose vectors are searched, and the indexes over them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection, connections
from django.utils.translation import gettext as _

from gedaechtnis.common import clock
from gedaechtnis.memory import ports
from gedaechtnis.memory.ports import EmbeddingModel
from gedaechtnis.world.models import VectorSpace

OWNER = "owner"


@dataclass(frozen=True, slots=True, kw_only=True)
class InUse:
    """The model that is asked now; none where search by meaning is off. `note` says what is not as it is wished."""

    model: EmbeddingModel | None
    note: str | None = None


def is_on() -> bool:
    """Whether anything is found by meaning."""
    return ports.embedding_model() is not None


def in_use() -> InUse:
    """The model whose vectors are there. Only `embeddings switch` changes it; the settings say it the first time.

    Another model in the settings is a wish until then: its vectors would have to be there first.
    """
    wanted = ports.embedding_model()
    if wanted is None:
        return InUse(model=None, note=_("search by meaning is switched off"))
    # By hand, as every search asks it: Django takes longer to put the statement together than all of it.
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, address FROM vector_spaces WHERE is_active")
        active = cursor.fetchone()
    if active is None or active[0] == wanted.name:
        return InUse(model=wanted)
    name, address = active
    note = _("the settings want the model %(wanted)s; %(used)s is used until `embeddings switch` has run") % {
        "wanted": wanted.name,
        "used": name,
    }
    return InUse(model=ports.model_at(address), note=note)


def hold(model: EmbeddingModel) -> bool:
    """Whether the vectors of a model are the ones searched; they remain so until the transaction ends.

    The first that is asked becomes it.
    """
    if not VectorSpace.objects.filter(is_active=True).exists():
        build(model)
        VectorSpace.objects.filter(name=model.name).update(is_active=True)
    with connection.cursor() as cursor:
        cursor.execute("SELECT FROM vector_spaces WHERE name = %s AND is_active FOR SHARE", [model.name])
        is_active: bool = cursor.rowcount == 1
    return is_active


def build(model: EmbeddingModel) -> None:
    """Say that vectors of a model are being made beside those searched."""
    VectorSpace.objects.bulk_create([_space(model)], ignore_conflicts=True)
    VectorSpace.objects.filter(name=model.name).update(address=model.address)


def activate(model: EmbeddingModel) -> None:
    """Search the vectors of this model from now on. In a transaction."""
    VectorSpace.objects.filter(is_active=True).exclude(name=model.name).update(is_active=False)
    VectorSpace.objects.filter(name=model.name).update(is_active=True)


def prepare() -> None:
    """As the owner: give the model that is searched, or will be, its index."""
    active = VectorSpace.objects.filter(is_active=True).first()
    wanted = ports.embedding_model()
    if active is not None:
        make_index(active.name, active.dimensions)
    elif wanted is not None:
        make_index(wanted.name, wanted.dimensions)


def index_name(name: str) -> str:
    """The index over the vectors of a model."""
    return f"projection_vectors_near_{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def make_index(name: str, dimensions: int) -> None:
    """As the owner, outside a transaction: index the vectors of a model, without stopping who writes them.

    What is left of an attempt that was broken off is made anew.
    """
    index = index_name(name)
    with connections[OWNER].cursor() as cursor:
        cursor.execute("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)", [index])
        found = cursor.fetchone()
        if found is not None and found[0]:
            return
        cursor.execute(f"DROP INDEX IF EXISTS {index}")
        cursor.execute(
            f"CREATE INDEX CONCURRENTLY {index} ON projection_vectors "
            f"USING hnsw ((vector::halfvec({dimensions:d})) halfvec_cosine_ops) WHERE model = {literal(name)}"
        )


def drop_index(name: str) -> None:
    """As the owner: the vectors of a model are searched no more."""
    with connections[OWNER].cursor() as cursor:
        cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {index_name(name)}")


def literal(text: str) -> str:
    """A text as it stands in a statement: the planner chooses by it, and a partial index serves no parameter."""
    return "'" + text.replace("'", "''") + "'"


def as_text(vector: Sequence[float]) -> str:
    """A vector as PostgreSQL reads it."""
    return "[" + ",".join(["%.6g"] * len(vector)) % tuple(vector) + "]"


def _space(model: EmbeddingModel) -> VectorSpace:
    return VectorSpace(name=model.name, address=model.address, dimensions=model.dimensions, made_at=clock.now())
