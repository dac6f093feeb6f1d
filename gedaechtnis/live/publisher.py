"""Tell open pages that something changed."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Mapping
from functools import cache
from threading import Thread
from typing import Any

from channels.exceptions import ChannelFull
from channels.layers import get_channel_layer
from redis.exceptions import RedisError

from gedaechtnis.live.groups import scope_group

logger = logging.getLogger(__name__)

_PATIENCE = 2.0
"""Seconds that a write which is in already waits for its notice to be taken."""


def publish(scope_ref: str, payload: Mapping[str, Any]) -> None:
    """Send a frame `{"type", "ids"}` to the readers of a scope.

    Called after commit. Pages catch up when they reconnect, so a channel layer that is
    down is logged and never fails the write that has already happened.
    """
    layer = get_channel_layer()
    if layer is None:
        return
    message = {"type": "live.frame", "frame": dict(payload)}
    sent = asyncio.run_coroutine_threadsafe(layer.group_send(scope_group(scope_ref), message), _loop(os.getpid()))
    try:
        sent.result(_PATIENCE)
    except (TimeoutError, RedisError, OSError, ChannelFull) as error:
        sent.cancel()
        logger.warning("live notice not sent: %s", error)


@cache
def _loop(process: int) -> asyncio.AbstractEventLoop:
    """The event loop in which a process sends, in a thread of its own.

    The layer keeps a connection for each loop: a new loop for each notice, as `async_to_sync` makes it outside a
    server, takes longer than the write. A process forked from another has its threads to make anew.
    """
    loop = asyncio.new_event_loop()
    Thread(target=loop.run_forever, name="live-publisher", daemon=True).start()
    return loop
