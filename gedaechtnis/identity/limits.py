"""How often something may be tried: counted in Redis, in one atomic step, forgotten with time."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import cast

import redis
from django.conf import settings

PREFIX = "gedaechtnis.limit."

# All or nothing: a try that one limit refuses is not counted against the others, or a single sender could
# use up the tries of everybody. Says how long to wait, and whether this is the first refusal of the window.
_TAKE = """
local wait = 0
for i, key in ipairs(KEYS) do
  if tonumber(redis.call('GET', key) or '0') >= tonumber(ARGV[2 * i - 1]) then
    wait = math.max(wait, redis.call('PTTL', key))
  end
end
if wait > 0 then
  local first = redis.call('SET', KEYS[1] .. '.refused', '1', 'NX', 'PX', wait)
  return {wait, first and 1 or 0}
end
for i, key in ipairs(KEYS) do
  if redis.call('INCR', key) == 1 then redis.call('PEXPIRE', key, ARGV[2 * i]) end
end
return {0, 0}
"""

_GIVE_BACK = """
for _, key in ipairs(KEYS) do
  if tonumber(redis.call('GET', key) or '0') > 0 then redis.call('DECR', key) end
end
"""

Unreachable = redis.RedisError
"""Raised by every function here when Redis does not answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """At most `most` times in `seconds`, counted from the first. `name` is stored as a hash only."""

    name: str
    most: int
    seconds: int

    @property
    def key(self) -> str:
        return PREFIX + hashlib.sha256(self.name.encode()).hexdigest()[:40]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """`wait` in whole seconds is 0 if the try may go on; `is_first` marks the first refusal of a window."""

    wait: int
    is_first: bool = False


def take(limits: Sequence[Limit]) -> Verdict:
    """Count one try against all the limits, or against none if one of them is used up."""
    arguments = [value for limit in limits for value in (limit.most, limit.seconds * 1000)]
    script = _client().register_script(_TAKE)
    wait, first = cast("tuple[int, int]", script(keys=[limit.key for limit in limits], args=arguments))
    return Verdict(wait=math.ceil(wait / 1000), is_first=bool(first))


def give_back(limits: Sequence[Limit]) -> None:
    """Take a try back that should not count."""
    _client().register_script(_GIVE_BACK)(keys=[limit.key for limit in limits])


def forget(limit: Limit) -> None:
    """Start anew."""
    _client().delete(limit.key)


@cache
def _client() -> redis.Redis:
    return redis.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=1, socket_timeout=2)
