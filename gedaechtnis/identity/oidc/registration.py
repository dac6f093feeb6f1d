"""How an identity provider is made known; read by the settings, so it knows nothing of Django's apps."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit


def provider_id(issuer: str) -> str:
    """The name under which subjects of an issuer are kept: made from the issuer, so that no two can share it.

    A subject means nothing outside its issuer. Pointing the settings at another issuer makes other people.
    """
    return f"oidc-{hashlib.sha256(issuer.encode()).hexdigest()[:24]}"


def app(
    *,
    issuer: str,
    client_id: str,
    secret: str,
    name: str,
    scopes: list[str],
    groups_claim: str = "",
    groups: Iterable[str] = (),
) -> dict[str, Any]:
    """One provider, as an entry of `APPS` in allauth's settings.

    `groups_claim` is the claim that lists a person's groups (none without it), `groups` the only names in it that
    count (all without any).
    """
    return {
        "provider_id": provider_id(issuer),
        "name": name,
        "client_id": client_id,
        "secret": secret,
        "settings": {
            "issuer": issuer,
            "server_url": f"{issuer.rstrip('/')}/.well-known/openid-configuration",
            "scope": scopes,
            "oauth_pkce_enabled": True,
            "groups_claim": groups_claim,
            "groups": sorted(groups),
        },
    }


def origin(issuer: str) -> str:
    """Scheme, host and port: where the sign-in form may lead, for the content security policy."""
    parts = urlsplit(issuer)
    return f"{parts.scheme}://{parts.netloc}"
