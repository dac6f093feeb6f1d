"""Tell open pages that something changed."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from asgiref.sync import async_to_sync
from channels.exceptions import ChannelFull
from channels.layers import get_channel_layer
from redis.exceptions import RedisError

from gedaechtnis.live.groups import scope_group

logger = logging.getLogger(__name__)


def publish(scope_ref: str, payload: Mapping[str, Any]) -> None:
    """Send a frame `{"type", "ids"}` to the readers of a scope.

    Called after commit. Pages catch up when they reconnect, so a channel layer that is
    down is logged and never fails the write that has already happened.
    """
    layer = get_channel_layer()
    if layer is None:
        return
    message = {"type": "live.frame", "frame": dict(payload)}
    try:
        async_to_sync(layer.group_send)(scope_group(scope_ref), message)
    except (TimeoutError, RedisError, OSError, ChannelFull) as error:
        logger.warning("live notice not sent: %s", error)
