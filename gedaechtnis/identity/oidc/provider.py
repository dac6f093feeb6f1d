"""What counts as proof: an ID token signed by the issuer for us, and user info about the same subject.

allauth loads `provider_classes` of each installed app; this one stands in for its own OpenID Connect provider, which
trusts the connection instead of the signature, and takes the subject from the user info.
"""

from __future__ import annotations

from typing import Any

import jwt
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.models import SocialApp, SocialLogin, SocialToken
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.http import HttpRequest

_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
"""Signatures with a key pair only: with a shared secret the client could sign for the issuer."""
_REQUIRED = ["iss", "sub", "aud", "exp", "iat"]
_LEEWAY_SECONDS = 60
_MAX_SUBJECT = 191
"""As much as allauth keeps."""


class IssuerAdapter(OpenIDConnectOAuth2Adapter):
    """Speaks to one issuer and believes only what it signed."""

    @property
    def openid_config(self) -> dict[str, Any]:
        """The issuer's discovery document.

        Raises:
            OAuth2Error: it speaks for another issuer.
        """
        config: dict[str, Any] = super().openid_config
        if config.get("issuer") != self.get_provider().app.settings["issuer"]:
            raise OAuth2Error("the discovery document names another issuer")
        return config

    def complete_login(self, request: HttpRequest, app: SocialApp, token: SocialToken, **kwargs: Any) -> SocialLogin:
        """Who signed in, with all claims as `claims`; none of them is stored.

        Raises:
            OAuth2Error: the ID token is missing or not valid, or the user info is about somebody else.
        """
        claims = self._claims(app, str(kwargs["response"].get("id_token", "")))
        if "userinfo_endpoint" in self.openid_config:
            info = self._fetch_user_info(token.token)
            if not isinstance(info, dict) or info.get("sub") != claims["sub"]:
                raise OAuth2Error("the user info is about another subject")
            claims = {**info, **claims}
        login = self.get_provider().sociallogin_from_response(request, {"id_token": claims})
        login.claims = claims
        login.account.extra_data = {}
        return login

    def _claims(self, app: SocialApp, id_token: str) -> dict[str, Any]:
        with get_adapter().get_requests_session() as session:
            response = session.get(self.openid_config["jwks_uri"])
            response.raise_for_status()
        try:
            claims: dict[str, Any] = jwt.decode(
                id_token,
                _key(response.json(), jwt.get_unverified_header(id_token).get("kid")),
                algorithms=_ALGORITHMS,
                audience=app.client_id,
                issuer=app.settings["issuer"],
                leeway=_LEEWAY_SECONDS,
                options={"require": _REQUIRED},
            )
        except (jwt.PyJWTError, ValueError) as error:
            raise OAuth2Error("the ID token is not valid") from error
        subject = claims["sub"]
        if claims.get("azp", app.client_id) != app.client_id:
            raise OAuth2Error("the ID token was made for another client")
        if not subject or len(subject) > _MAX_SUBJECT or not subject.isprintable():
            raise OAuth2Error("the subject cannot be stored")
        return claims


def _key(document: Any, key_id: str | None) -> jwt.PyJWK:
    keys = jwt.PyJWKSet.from_dict(document).keys
    named = [key for key in keys if key_id is None or key.key_id == key_id]
    if len(named) != 1:
        raise OAuth2Error("the issuer has no such key")
    return named[0]


class Provider(OpenIDConnectProvider):
    """allauth's, with our proof."""

    oauth2_adapter_class = IssuerAdapter


provider_classes = [Provider]
