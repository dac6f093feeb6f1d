from __future__ import annotations

from typing import Literal
from uuid import UUID

from pydantic import Field

from gedaechtnis.api.schemas.common import In, Out

Permission = Literal["none", "read", "write"]


class WorkspaceIn(In):
    scope_ref: str | None = Field(default=None, max_length=100, description="A workspace; the token's own without it.")


class GrantIn(In):
    domain: str = Field(min_length=1, max_length=200, description="As in `architecture`, `repo:my-repo/architecture`.")
    agent_role: str = Field(
        default="", max_length=50, description="Every role that has no grant of its own without it."
    )
    permission: Permission | None = Field(description="Null takes the grant back: then every role may write.")


class GrantOut(Out):
    id: UUID
    scope_ref: str
    domain: str
    agent_role: str
    permission: Permission


class SetGrantOut(Out):
    """Null where nothing is said any more."""

    grant: GrantOut | None


class GrantsOut(Out):
    items: list[GrantOut]
