"""The WebSocket of a page."""

from __future__ import annotations

from typing import Any, cast

from channels.auth import get_user
from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer

from gedaechtnis.identity import orgs
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import person
from gedaechtnis.identity.sessions import SessionStore
from gedaechtnis.live.groups import scope_group

SIGNED_OUT = 4401


class LiveConsumer(AsyncJsonWebsocketConsumer):
    """Passes frames of the scopes its person may read; takes nothing in.

    Frames are `{"type": "memory.committed" | "chat.message" | "proposal.changed" |
    "curator.ran" | "access.changed", "ids": […]}`; the page fetches what they name through its own views.
    """

    joined: frozenset[str] = frozenset()

    async def connect(self) -> None:
        await self.accept()
        await self._follow_access()

    async def disconnect(self, code: int) -> None:
        await self._join(frozenset())

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None, **kwargs: Any) -> None:
        """Pages have nothing to say here; what they send is dropped unread."""

    async def live_frame(self, message: dict[str, Any]) -> None:
        """Hand a frame on, if its person still is signed in and may read all that they could before.

        Asked anew each time: a socket lives longer than a session, a membership or an account.
        """
        before = self.joined
        if not await self._follow_access():
            return
        # The frame does not say whose it is: once anything is lost, the page only hears of that.
        lost = bool(before - self.joined)
        await self.send_json({"type": "access.changed", "ids": []} if lost else message["frame"])

    async def _follow_access(self) -> bool:
        """Join what may be read today; False (and the end) for somebody who is not signed in."""
        groups = await _groups(self.scope["session"].session_key)
        await self._join(groups)
        if not groups:
            # A refusal before the handshake reaches the browser as 1006, which cannot be told from a lost line.
            await self.close(code=SIGNED_OUT)
        return bool(groups)

    async def _join(self, wanted: frozenset[str]) -> None:
        for group in self.joined - wanted:
            await self.channel_layer.group_discard(group, self.channel_name)
        for group in wanted - self.joined:
            await self.channel_layer.group_add(group, self.channel_name)
        self.joined = wanted


async def _groups(session_key: str | None) -> frozenset[str]:
    """The groups of all scopes that the pages of a session read today; none without its person."""
    session = SessionStore(session_key)
    user = await get_user(cast(Any, {"session": session}))
    return await _readable(user, session) if isinstance(user, User) else frozenset()


@database_sync_to_async
def _readable(user: User, session: SessionStore) -> frozenset[str]:
    principal = person(user, orgs.chosen(user=user, session=session))
    return frozenset(map(scope_group, principal.read_scopes))
