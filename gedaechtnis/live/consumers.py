"""The WebSocket of a page."""

from __future__ import annotations

from typing import Any

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer

from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import person
from gedaechtnis.live.groups import scope_group

SIGNED_OUT = 4401


class LiveConsumer(AsyncJsonWebsocketConsumer):
    """Passes frames of the scopes its person may read; takes nothing in.

    Frames are `{"type": "memory.committed" | "chat.message" | "proposal.changed" |
    "curator.ran" | "access.changed", "ids": […]}`; the page fetches what they name through its own views.
    """

    user_id: int
    joined: frozenset[str] = frozenset()

    async def connect(self) -> None:
        await self.accept()
        user = self.scope.get("user")
        if not isinstance(user, User):
            # A refusal before the handshake reaches the browser as 1006, which cannot be told from a lost line.
            await self.close(code=SIGNED_OUT)
            return
        self.user_id = user.pk
        await self._join(await _groups(self.user_id))

    async def disconnect(self, code: int) -> None:
        await self._join(frozenset())

    async def receive_json(self, content: Any, **kwargs: Any) -> None:
        """Pages have nothing to say here; what they send is dropped unread."""

    async def live_frame(self, message: dict[str, Any]) -> None:
        """Hand a frame on; after a change of access join only what may be read today."""
        frame = message["frame"]
        if frame.get("type") == "access.changed":
            await self._join(await _groups(self.user_id))
        await self.send_json(frame)

    async def _join(self, wanted: frozenset[str]) -> None:
        for group in self.joined - wanted:
            await self.channel_layer.group_discard(group, self.channel_name)
        for group in wanted - self.joined:
            await self.channel_layer.group_add(group, self.channel_name)
        self.joined = wanted


@database_sync_to_async
def _groups(user_id: int) -> frozenset[str]:
    """The groups of all scopes a person reads today; their own scope's is their personal one."""
    user = User.objects.filter(pk=user_id, is_active=True).first()
    return frozenset(map(scope_group, person(user).read_scopes)) if user else frozenset()
