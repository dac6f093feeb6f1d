"""The person a memory belongs to, as an entity in it."""

from __future__ import annotations

from uuid import UUID

from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import person
from gedaechtnis.memory.writing import assertions
from gedaechtnis.memory.writing.entities import read_name
from gedaechtnis.memory.writing.session import WriteSession
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import Entity


def ensure_self(*, user: User) -> UUID:
    """The entity that stands for the user in their own scope; made on first use."""
    principal = person(user)
    own = principal.default_scope
    with scope(principal, write=own) as opened:
        mine = Entity.objects.filter(scope_ref=own, is_self=True)
        if (found := mine.first()) is not None:
            return found.pk
        session = WriteSession.begin(opened)
        if (made_meanwhile := mine.first()) is not None:
            return made_meanwhile.pk
        name = read_name(user.get_full_name() or user.username, field="name")
        entity = assertions.introduce(session=session, kind="person", name=name, tick=session.ticks[0], is_self=True)
        session.finish()
        return entity.pk
