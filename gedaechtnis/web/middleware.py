"""The person's language and time zone, for the length of a request, and that nothing they see is kept."""

from __future__ import annotations

from collections.abc import Callable
from zoneinfo import ZoneInfo

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone, translation


class PersonMiddleware:
    """After sign-in the person's own choice counts; before it, `LocaleMiddleware` decides.

    Stands after `AuthenticationMiddleware` and `LocaleMiddleware`.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return self.get_response(request)
        language = request.user.language
        request.LANGUAGE_CODE = language
        with translation.override(language), timezone.override(ZoneInfo(request.user.time_zone)):
            response = self.get_response(request)
            # Signing out leaves nobody in the request: only what was read before counts.
            response.headers["Content-Language"] = language
            # Also of what is missing or refused: nobody's cache keeps what somebody signed in was told.
            response.headers.setdefault("Cache-Control", "no-store")
            return response
