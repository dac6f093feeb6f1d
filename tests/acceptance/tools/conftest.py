from __future__ import annotations

from collections.abc import Iterator

import pytest

from gedaechtnis.common import clock
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal, agent, user_scope
from gedaechtnis.memory.projecting import index
from tests.acceptance.tools import world
from tests.conftest import make_user


@pytest.fixture
def basti(database: None) -> Iterator[User]:
    """Whose memory the example world is, on the day it is asked about."""
    with clock.frozen(world.BEGINNING):  # system time never goes back, and begins with the person
        user = make_user("basti")
    world.build(user)
    with clock.frozen(world.NOW):
        index.run(scope_ref=user_scope(user.sub))
        yield user


@pytest.fixture
def assistant(basti: User) -> Principal:
    """An agent of his: it asks, and what it says waits."""
    return agent(basti, "assistant")
