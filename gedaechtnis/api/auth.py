"""Who is asking: a bearer token, or the session of somebody signed in at the pages."""

from __future__ import annotations

import logging
from typing import cast
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation.trans_real import parse_accept_lang_header
from ninja.security import APIKeyCookie, HttpBearer
from ninja.utils import check_csrf

from gedaechtnis.common.problems import Problem
from gedaechtnis.identity import limits, orgs
from gedaechtnis.identity.models import Token, User
from gedaechtnis.identity.principals import SCOPE_REF, Principal, from_token, person
from gedaechtnis.identity.tokens import authenticate

logger = logging.getLogger(__name__)

_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_ORG = "Gedaechtnis-Org"


class ApiRequest(HttpRequest):
    """A request that was let in; `auth` holds today's rights of whoever sent it."""

    auth: Principal


class BearerToken(HttpBearer):
    """`Authorization: Bearer <token>`. Messages come in `Accept-Language`, else in the person's language."""

    openapi_description = "A token made with `manage.py token create`."

    def authenticate(self, request: HttpRequest, token: str) -> Principal | None:
        found = authenticate(token, request)
        if found is None:
            return None
        translation.activate(_asked_language(request) or found.user.language)
        _check_rate(found)
        principal = from_token(found, _chosen_org(request))
        if request.method not in _SAFE_METHODS and not found.read_only and not principal.write_scopes:
            raise Problem("scope_denied", _("This token may not write into its scope any more."), 403)
        return _admitted(request, principal)


class PageSession(APIKeyCookie):
    """The session cookie of the pages; what writes needs the CSRF token too. A token in the header goes first."""

    def __call__(self, request: HttpRequest) -> Principal | None:
        if "Authorization" in request.headers or not request.user.is_authenticated:
            return None
        if check_csrf(request) is not None:
            raise Problem("csrf_failed", _("The page is too old or foreign. Load it again."), 403)
        return _admitted(request, person(request.user, _chosen_org(request) or _org_of_page(request)))

    def authenticate(self, request: HttpRequest, key: str | None) -> Principal | None:
        return self(request)


def _chosen_org(request: HttpRequest) -> UUID | None:
    """The organisation that the header `Gedaechtnis-Org` picks to act in; the first of the person's without it."""
    text = request.headers.get(_ORG)
    if text is None:
        return None
    try:
        return UUID(text)
    except ValueError as error:
        raise Problem("invalid_org", _("This is not an identifier (a UUID)."), field=_ORG) from error


def _org_of_page(request: HttpRequest) -> UUID | None:
    """The organisation that the pages of the same session act in."""
    user = cast(User, request.user)  # asked for somebody signed in only
    return orgs.chosen(user=user, session=request.session)


def _check_rate(token: Token) -> None:
    most = settings.GEDAECHTNIS_TOKEN_REQUESTS_PER_MINUTE
    try:
        verdict = limits.take([limits.Limit(name=f"token.{token.pk}", most=most, seconds=60)])
    except limits.Unreachable:
        # The token has proved who is asking: without a count it is better served than refused.
        logger.warning("requests of a token cannot be counted", exc_info=True)
        return
    if verdict.wait:
        detail = _("Too many requests: at most %(most)s a minute with one token.") % {"most": most}
        raise Problem("rate_limited", detail, 429, extra={"retry_after": verdict.wait})


def _admitted(request: HttpRequest, principal: Principal) -> Principal:
    if request.method not in _SAFE_METHODS and not principal.write_scopes:
        raise Problem("read_only", _("This token may only read."), 403)
    return principal


def _asked_language(request: HttpRequest) -> str | None:
    """The first language of `Accept-Language` that we speak."""
    for code, _quality in parse_accept_lang_header(request.headers.get("Accept-Language", "")):
        try:
            return translation.get_supported_language_variant(code)
        except LookupError:
            continue
    return None


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
