from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gedaechtnis.identity.models import User


@pytest.fixture
def api(anna: User, client_for: Callable[..., Any]) -> Any:
    """Anna's own token: she is the person."""
    return client_for(anna)


@pytest.fixture
def agent(anna: User, client_for: Callable[..., Any]) -> Any:
    """An agent of Anna's: what it says waits for her."""
    return client_for(anna, agent_role="assistant")


@pytest.fixture
def stranger(clara: User, client_for: Callable[..., Any]) -> Any:
    return client_for(clara)
