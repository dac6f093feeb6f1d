"""The way to an identity provider and back."""

from __future__ import annotations

from dataclasses import dataclass

from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.models import SocialApp
from allauth.socialaccount.providers.base import AuthProcess
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_GET, require_POST
from requests import RequestException

from gedaechtnis.identity.oidc.adapters import refuse
from gedaechtnis.identity.oidc.provider import IssuerAdapter


@dataclass(frozen=True, slots=True)
class Way:
    """An identity provider as the sign-in page offers it."""

    name: str
    url: str


def ways(request: HttpRequest) -> list[Way]:
    """The identity providers one can sign in with; none by default."""
    apps = get_adapter(request).list_apps(request, provider="openid_connect")
    return [Way(app.name, reverse("openid_connect_login", args=[app.provider_id])) for app in apps]


@require_POST
def login(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Off to the provider; `next` is the page to come back to."""
    try:
        provider = get_adapter(request).get_provider(request, provider_id)
    except SocialApp.DoesNotExist as error:
        raise Http404 from error
    target = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(target, {request.get_host()}, require_https=request.is_secure()):
        target = ""
    try:
        response: HttpResponse = provider.redirect(request, process=AuthProcess.LOGIN, next_url=target or None)
    except (RequestException, OAuth2Error) as error:
        try:
            refuse(request, provider_id, str(error))
        except ImmediateHttpResponse as refusal:
            response = refusal.response
    return response


@require_GET
def callback(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Back from the provider."""
    try:
        response: HttpResponse = OAuth2CallbackView.adapter_view(IssuerAdapter(request, provider_id))(request)
    except SocialApp.DoesNotExist as error:
        raise Http404 from error
    return response
