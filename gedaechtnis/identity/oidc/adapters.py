"""What becomes of somebody whom an identity provider vouches for: the user of that issuer and subject, or a new one.

Nobody is recognised by e-mail address or name: both can be chosen at a provider, and are given to others later.
"""

from __future__ import annotations

import logging
from typing import Any, NoReturn

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialApp, SocialLogin
from allauth.socialaccount.providers.base import AuthProcess
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _

from gedaechtnis.identity import audit
from gedaechtnis.identity.models import User
from gedaechtnis.identity.oidc import claims

logger = logging.getLogger(__name__)


def refuse(request: HttpRequest, provider_id: str, reason: str) -> NoReturn:
    """End a sign-in that failed at the sign-in page, saying only that it did."""
    logger.warning("signing in with %s failed: %s", provider_id, reason)
    audit.record(audit.Kind.SIGN_IN_FAILED, acted_by="", request=request, provider=provider_id)
    messages.error(request, _("Signing in there did not work. Try it again, or use your password."))
    raise ImmediateHttpResponse(HttpResponseRedirect(reverse("login")))


class AccountAdapter(DefaultAccountAdapter):
    """Signs in without the notices of its own that allauth would show."""

    def add_message(self, *args: Any, **kwargs: Any) -> None:
        """None: the page one comes to says enough."""


class SocialAccountAdapter(DefaultSocialAccountAdapter):
    """Finds or makes the user, and brings their groups up to date."""

    def list_apps(
        self, request: HttpRequest, provider: str | None = None, client_id: str | None = None
    ) -> list[SocialApp]:
        """Providers come from the settings alone: whoever adds one decides who everybody is."""
        return [app for app in super().list_apps(request, provider, client_id) if app.pk is None]

    def can_authenticate_by_email(self, login: SocialLogin, email: str) -> bool:
        return False

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        """Whom the provider lets through is welcome: who may use this server is decided there."""
        return True

    def populate_user(self, request: HttpRequest, sociallogin: SocialLogin, data: dict[str, Any]) -> User:
        user: User = super().populate_user(request, sociallogin, data)
        user.email = ""
        sociallogin.email_addresses = []
        return user

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Refuse what is no plain sign-in, and people who are locked out; then bring their groups up to date."""
        provider_id = sociallogin.account.provider
        if sociallogin.state.get("process") != AuthProcess.LOGIN:
            refuse(request, provider_id, "not asked for as a sign-in")
        sociallogin.email_addresses = []
        if sociallogin.is_existing:
            if not sociallogin.user.is_active:
                refuse(request, provider_id, "the user is disabled")
            claims.follow(sociallogin.user, sociallogin.provider.app, sociallogin.claims)

    @transaction.atomic
    def save_user(self, request: HttpRequest, sociallogin: SocialLogin, form: Any = None) -> User:
        user: User = super().save_user(request, sociallogin, form)
        claims.follow(user, sociallogin.provider.app, sociallogin.claims)
        return user

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: Any,
        error: Any = None,
        exception: Exception | None = None,
        extra_context: dict[str, Any] | None = None,
    ) -> None:
        refuse(request, provider.app.provider_id, str(exception or error))
