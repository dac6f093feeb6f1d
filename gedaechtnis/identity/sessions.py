"""Sign-in sessions in the database; a cookie that cannot name one counts as none.

A session ends when nothing was asked for a while (Django's expiry, moved on by `SessionActivityMiddleware`), and some
time after signing in whatever was asked. Django makes a new key at each sign-in.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.signals import user_logged_in
from django.contrib.sessions.backends import db
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from gedaechtnis.common import clock

_MAX_LENGTH = 40
_SIGNED_IN_AT = "signed_in_at"
_SEEN_AT = "seen_at"
_TOUCH_EVERY = timedelta(seconds=30)
"""So that not each request writes its session."""


class SessionStore(db.SessionStore):
    """Django's own, asking the database only about keys that it could have made (a quoted NUL is none).

    A session that has lasted too long is empty, for pages, the API and open sockets alike.
    """

    def load(self) -> dict[str, Any]:
        return self._unless_over(super().load())

    async def aload(self) -> dict[str, Any]:
        return self._unless_over(await super().aload())

    def _unless_over(self, data: dict[str, Any]) -> dict[str, Any]:
        if SESSION_KEY not in data:
            return data
        age = clock.now().timestamp() - data.get(_SIGNED_IN_AT, 0)
        if age < settings.GEDAECHTNIS_SESSION_MAX_SECONDS:
            return data
        self._session_key = None
        return {}

    def _validate_session_key(self, key: str | None) -> bool:
        return key is not None and key.isascii() and key.isalnum() and len(key) <= _MAX_LENGTH


class SessionActivityMiddleware:
    """Moves the end of a session on while its person asks for something. Stands after `AuthenticationMiddleware`."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.user.is_authenticated:
            now = clock.now().timestamp()
            if now - request.session.get(_SEEN_AT, 0) >= _TOUCH_EVERY.total_seconds():
                request.session[_SEEN_AT] = now
        return self.get_response(request)


def listen() -> None:
    """Note in each session when it began."""
    user_logged_in.connect(_signed_in, dispatch_uid="sessions.signed_in")


def _signed_in(*, request: HttpRequest, **_kwargs: Any) -> None:
    request.session[_SIGNED_IN_AT] = request.session[_SEEN_AT] = clock.now().timestamp()
