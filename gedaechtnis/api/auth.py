"""Who is asking: a bearer token, or the session of somebody signed in at the pages."""

from __future__ import annotations

from typing import cast
from uuid import UUID

from django.http import HttpRequest
from django.utils.translation import gettext as _
from ninja.security import APIKeyCookie, HttpBearer
from ninja.utils import check_csrf

from gedaechtnis.common.problems import Problem
from gedaechtnis.identity import bearer, orgs
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import SCOPE_REF, Principal, person

_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_QUESTIONS = ("/api/tools/", "/api/knowledge/preamble", "/api/world/context", "/api/world/search")
"""Where a POST may be a question: what changes the memory behind these addresses asks for the right itself."""


class ApiRequest(HttpRequest):
    """A request that was let in; `auth` holds today's rights of whoever sent it."""

    auth: Principal


class BearerToken(HttpBearer):
    """`Authorization: Bearer <token>`. Messages come in `Accept-Language`, else in the person's language."""

    openapi_description = "A token made with `manage.py token create`."

    def authenticate(self, request: HttpRequest, token: str) -> Principal | None:
        found = bearer.admit(token, request)
        if found is None:
            return None
        if not _only_reads(request) and not found.token.read_only and not found.principal.write_scopes:
            raise Problem("scope_denied", _("This token may not write into its scope any more."), 403)
        return _admitted(request, found.principal)


class PageSession(APIKeyCookie):
    """The session cookie of the pages; what writes needs the CSRF token too. A token in the header goes first."""

    def __call__(self, request: HttpRequest) -> Principal | None:
        if "Authorization" in request.headers or not request.user.is_authenticated:
            return None
        if check_csrf(request) is not None:
            raise Problem("csrf_failed", _("The page is too old or foreign. Load it again."), 403)
        return _admitted(request, person(request.user, bearer.chosen_org(request) or _org_of_page(request)))

    def authenticate(self, request: HttpRequest, key: str | None) -> Principal | None:
        return self(request)


def _org_of_page(request: HttpRequest) -> UUID | None:
    """The organisation that the pages of the same session act in."""
    user = cast(User, request.user)  # asked for somebody signed in only
    return orgs.chosen(user=user, session=request.session)


def _only_reads(request: HttpRequest) -> bool:
    return request.method in _SAFE_METHODS or request.path_info.startswith(_QUESTIONS)


def _admitted(request: HttpRequest, principal: Principal) -> Principal:
    if not _only_reads(request) and not principal.write_scopes:
        raise Problem("read_only", _("This token may only read."), 403)
    return principal


def chosen_scope(principal: Principal, scope_ref: str | None) -> str:
    """The scope that the header `Gedaechtnis-Scope` picks for writing; the principal's own without it.

    Raises:
        Problem: `invalid_scope`; `scope_denied` (403) for one that is missing, foreign or not writable.
    """
    if scope_ref is None:
        return principal.default_scope
    if not SCOPE_REF.fullmatch(scope_ref):
        raise Problem("invalid_scope", _("This is not the name of a scope."), field="Gedaechtnis-Scope")
    if scope_ref not in principal.write_scopes:
        raise Problem("scope_denied", _("You may not write into this scope."), 403, "Gedaechtnis-Scope")
    return scope_ref
