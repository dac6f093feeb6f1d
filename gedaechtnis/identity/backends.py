"""Checking passwords, and not too often."""

from __future__ import annotations

import logging
import math
from typing import Any

from django.conf import settings
from django.contrib.auth.backends import ModelBackend
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.translation import gettext as _

from gedaechtnis.identity import audit, limits
from gedaechtnis.identity.limits import Limit
from gedaechtnis.identity.models import User

logger = logging.getLogger(__name__)

TOO_MANY = "too_many_attempts"
UNAVAILABLE = "sign_in_unavailable"
REFUSALS: dict[str | None, int] = {TOO_MANY: 429, UNAVAILABLE: 503}
"""Codes of refusals that say nothing about the password, with the HTTP status they go with."""
_HOUR = 3600
_ACCOUNT_PER_HOUR = 100
"""From all addresses together: who guesses from many must not get further, whom they guess at should not notice."""
_ADDRESS_FACTOR = 10
"""Many people may sit behind one address."""


class PasswordBackend(ModelBackend):
    """Django's own, with limits per account and address, per address, and per account.

    Used by every form that asks for a password, the admin's too. A refusal is a `ValidationError`, which such a
    form shows: `too_many_attempts` (params: `retry_after`, seconds), or `sign_in_unavailable` when tries cannot
    be counted. Tries are counted before the password is looked at, so that parallel ones gain nothing.
    """

    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **kwargs: Any
    ) -> User | None:
        if username is None or password is None:
            return super().authenticate(request, username, password, **kwargs)
        both, *others = _limits(username, audit.client_address(request) if request else "")
        try:
            verdict = limits.take([both, *others])
            if verdict.wait:
                if verdict.is_first:
                    sub = audit.named(username)
                    audit.record(audit.Kind.SIGN_IN_BLOCKED, acted_by="", sub=sub, request=request)
                raise _too_many(verdict.wait)
            user = super().authenticate(request, username, password, **kwargs)
            if user is not None:
                limits.forget(both)
                limits.give_back(others)
        except limits.Unreachable as error:
            logger.exception("tries to sign in cannot be counted")
            raise ValidationError(_("Signing in is not possible right now."), code=UNAVAILABLE) from error
        return user


def _limits(username: str, address: str) -> tuple[Limit, Limit, Limit]:
    most, seconds = settings.GEDAECHTNIS_SIGN_IN_ATTEMPTS, settings.GEDAECHTNIS_SIGN_IN_WINDOW_SECONDS
    account = username.casefold()
    return (
        Limit(name=f"sign-in.{address}.{account}", most=most, seconds=seconds),
        Limit(name=f"sign-in.address.{address}", most=most * _ADDRESS_FACTOR, seconds=seconds),
        Limit(name=f"sign-in.account.{account}", most=max(most, _ACCOUNT_PER_HOUR), seconds=_HOUR),
    )


def _too_many(wait: int) -> ValidationError:
    return ValidationError(
        _("Too many tries. Wait %(minutes)s min, then try again."),
        code=TOO_MANY,
        params={"minutes": math.ceil(wait / 60), "retry_after": wait},
    )
