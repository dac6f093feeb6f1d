"""Letting a program in by its bearer token, the same at every door: who, how often, in which org and language."""

from __future__ import annotations

import logging
from typing import NamedTuple
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation.trans_real import parse_accept_lang_header

from gedaechtnis.common.problems import Problem
from gedaechtnis.identity import limits
from gedaechtnis.identity.models import Token
from gedaechtnis.identity.principals import Principal, from_token
from gedaechtnis.identity.tokens import authenticate

logger = logging.getLogger(__name__)

ORG = "Gedaechtnis-Org"


class Admitted(NamedTuple):
    token: Token
    principal: Principal


def admit(secret: str, request: HttpRequest) -> Admitted | None:
    """The token behind a secret and what it may do today; None if it is not valid, or no longer.

    Activates the language of the answer: that of `Accept-Language`, else the person's.

    Raises:
        Problem: `rate_limited` (429) with `retry_after`, `invalid_org`, `org_denied` (403).
    """
    token = authenticate(secret, request)
    if token is None:
        return None
    translation.activate(asked_language(request) or token.user.language)
    _check_rate(token)
    return Admitted(token, from_token(token, chosen_org(request)))


def chosen_org(request: HttpRequest) -> UUID | None:
    """The organisation that the header `Gedaechtnis-Org` picks to act in; the first of the person's without it."""
    text = request.headers.get(ORG)
    if text is None:
        return None
    try:
        return UUID(text)
    except ValueError as error:
        raise Problem("invalid_org", _("This is not an identifier (a UUID)."), field=ORG) from error


def asked_language(request: HttpRequest) -> str | None:
    """The first language of `Accept-Language` that we speak."""
    for code, _quality in parse_accept_lang_header(request.headers.get("Accept-Language", "")):
        try:
            return translation.get_supported_language_variant(code)
        except LookupError:
            continue
    return None


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
