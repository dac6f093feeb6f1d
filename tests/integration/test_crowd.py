"""Memories of very unequal sizes in one database: each finds what it would find alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks import crowd, projections
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal, person
from gedaechtnis.memory import spaces

SIZES = (10_000, 4_000, 2_000, 1_000, 500, 500, *[200] * 6, *[100] * 6, 50, 20)


class Small:
    """A model of few dimensions: the vectors are made up, and as many as there are, short ones are quickly indexed."""

    address, name, dimensions, clearance, looks_back = "bundled", "crowd/24", 24, 3, True

    def embed(self, texts: object, *, as_query: bool = False) -> list[list[float] | None]:
        raise NotImplementedError

    def warm_up(self) -> None:
        """Nothing is loaded."""


@pytest.fixture
def principals(database: None) -> Iterator[list[Principal]]:
    made = [person(User.objects.create(username=f"crowd{number}")) for number in range(len(SIZES))]
    projections.fill(
        {principal.default_scope: size for principal, size in zip(made, SIZES, strict=True)},
        model=Small.name,
        dimensions=Small.dimensions,
    )
    spaces.make_index(Small.name, Small.dimensions)
    yield made
    spaces.drop_index(Small.name)


def test_each_of_twenty_unequal_memories_finds_what_it_would_find_alone(principals: list[Principal]) -> None:
    for place in (0, 1, 5, 12, 19):
        seen = crowd.look(principals[place], SIZES[place], Small(), rounds=8)
        assert (seen.words, seen.alike) == (1, 1)
        assert seen.near >= 0.99 if SIZES[place] < 10_000 else seen.near >= 0.9
        assert any(index.startswith("projection_vectors") for index in seen.indexes)
        # The smallest hold none of the words that are asked for.
        assert "projection_terms_search" in seen.indexes or SIZES[place] < 1_000


def test_c69_what_others_write_takes_nothing_away(principals: list[Principal]) -> None:
    small = principals[4], SIZES[4], Small()
    before = crowd.found(*small, rounds=8)
    projections.fill({principals[1].default_scope: 10_000}, first=SIZES[1], model=Small.name, dimensions=24)
    assert crowd.found(*small, rounds=8) == before
