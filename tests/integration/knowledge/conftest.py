"""Anna and Ben share a group; each has an agent that reviews and one that plans."""

from __future__ import annotations

import pytest

from gedaechtnis.identity import groups, principals
from gedaechtnis.identity.models import Group, User
from gedaechtnis.identity.principals import Principal, person
from gedaechtnis.identity.tokens import create_token


@pytest.fixture
def family(anna: User, ben: User) -> Group:
    """Anna's group; Ben edits."""
    made = groups.create_group(user=anna, name="Familie Weber")
    groups.add_member(user=anna, group_id=made.pk, username="ben", role="editor")
    return made


@pytest.fixture
def shared(family: Group) -> str:
    """The scope of the group."""
    return f"group:{family.pk}"


@pytest.fixture
def as_ben(ben: User, family: Group) -> Principal:
    return person(ben)


@pytest.fixture
def reviewer(anna: User) -> Principal:
    """An agent of Anna's, at home in her own scope."""
    return agent_of(anna, "reviewer")


@pytest.fixture
def planner(anna: User) -> Principal:
    return agent_of(anna, "planner")


def agent_of(user: User, role: str, *, scope_ref: str = "", clearance: int = 3, read_only: bool = False) -> Principal:
    """An agent with a token."""
    token, _secret = create_token(
        user=user, name=role, agent_role=role, write_scope=scope_ref, clearance=clearance, read_only=read_only
    )
    return principals.from_token(token)
