"""Whether a browser's request comes from a page of this server."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import CsrfViewMiddleware


class _Origins(CsrfViewMiddleware):
    """Django's rule for forms: scheme, host and port are this server's, or `CSRF_TRUSTED_ORIGINS` names them."""

    def __init__(self) -> None:
        super().__init__(lambda _request: HttpResponse())

    def admits(self, request: HttpRequest) -> bool:
        return bool(self._origin_verified(request))  # type: ignore[attr-defined] # not in the stubs


def is_ours(request: HttpRequest) -> bool:
    """Of a request that names its `Origin`: whether that is this server."""
    return _Origins().admits(request)
