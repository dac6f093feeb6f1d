"""Searches to be measured: memories of conversations by size, and questions of several shapes in their words."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import psycopg
from django.db import connections
from django.test import Client, override_settings

from benchmarks import projections
from benchmarks.projections import VOCABULARY
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal, person
from gedaechtnis.identity.tokens import create_token
from gedaechtnis.memory import ports, spaces
from gedaechtnis.memory.selectors.recall.hits import Mode, SearchQuery
from gedaechtnis.memory.selectors.recall.search import search

MODES: Sequence[Mode] = ("hybrid", "semantic", "keyword")
_EACH = 10
"""Different questions of a shape."""


def memories(sizes: Iterable[int]) -> dict[int, User]:
    """A person for each size, whose memory holds so many turns; those that are there already are taken."""
    found = {size: _remembering(size) for size in sizes}
    missing = [size for size, user in found.items() if user is None]
    made = {size: User.objects.get_or_create(username=f"bench-{size}")[0] for size in missing}
    if made:
        _fill({person(user).default_scope: size for size, user in made.items()})
    return {size: user for size, user in (found | made).items() if user is not None}


def write_more(turns: int) -> None:
    """Somebody else's memory grows by so many, with vectors, while the indexes are in use."""
    user, _made = User.objects.get_or_create(username="bench-others")
    model = ports.embedding_model()
    with psycopg.connect(os.environ["DATABASE_ADMIN_URL"]) as admin:
        own = person(user).default_scope
        count = admin.execute("SELECT count(*) FROM memory_projections WHERE scope_ref = %s", [own]).fetchone()
    if model is not None:
        projections.fill({own: turns}, first=count[0] if count else 0, model=model.name, dimensions=model.dimensions)


def _remembering(size: int) -> User | None:
    with psycopg.connect(os.environ["DATABASE_ADMIN_URL"]) as admin:
        row = admin.execute(
            "SELECT scope_ref FROM projection_counts GROUP BY 1 HAVING sum(projections) = %s LIMIT 1", [size]
        ).fetchone()
    return User.objects.get(sub=row[0].removeprefix("user:")) if row else None


def _fill(scopes: Mapping[str, int]) -> None:
    """Vectors first, their index afterwards: so it takes a fraction of the time."""
    model = ports.embedding_model()
    if model is None:
        raise AssertionError("search by meaning must be on to be measured")
    spaces.drop_index(model.name)
    projections.fill(scopes, model=model.name, dimensions=model.dimensions)
    with connections[spaces.OWNER].cursor() as cursor:
        cursor.execute("SET maintenance_work_mem = '4GB'")
    spaces.make_index(model.name, model.dimensions)


def questions() -> dict[str, list[str]]:
    """Shape → questions; the same on every run."""
    draw = np.random.default_rng(5)

    def words(many: int, rarest: int = VOCABULARY, commonest: int = 30) -> str:
        ranks = commonest * (rarest / commonest) ** draw.random(many)
        return " ".join(f"w{int(rank)}" for rank in ranks)

    shapes: Mapping[str, Callable[[], str]] = {
        "one common word": partial(words, 1, 60),
        "one word": partial(words, 1, 20_000, 2_000),
        "three words": partial(words, 3),
        "ten words": partial(words, 10),
        "a sentence with a time": lambda: f"Was haben wir im Mai 2023 über {words(1)} und {words(1)} gesagt?",
    }
    return {shape: [ask() for _ in range(_EACH)] for shape, ask in shapes.items()}


def asking(principal: Principal, mode: Mode, texts: Sequence[str]) -> list[Callable[[], object]]:
    return [partial(search, principal=principal, query=SearchQuery(text=text, mode=mode)) for text in texts]


def asking_by_rest(user: User, texts: Sequence[str]) -> Iterator[Callable[[], object]]:
    """The same through the door, the client in this process."""
    _token, secret = create_token(user=user, name="bench")
    client = Client(headers={"Authorization": f"Bearer {secret}"})

    def post(text: str) -> None:
        with override_settings(GEDAECHTNIS_TOKEN_REQUESTS_PER_MINUTE=10**9):
            answer = client.post("/api/world/search", json.dumps({"query": text}), content_type="application/json")
        # A small memory does not know every word, and finds nothing then.
        if answer.status_code != 200:
            raise AssertionError(answer.content.decode())

    return (partial(post, text) for text in texts)
