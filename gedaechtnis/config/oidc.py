"""Identity providers as the environment names them: one without a name, and any number with one."""

from __future__ import annotations

import re
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from gedaechtnis.config import env
from gedaechtnis.identity.oidc import registration

_NAME = re.compile(r"[A-Z0-9]+(?:_[A-Z0-9]+)*")


def providers() -> list[dict[str, Any]]:
    """All of them, as `APPS` of allauth's settings, the one without a name first; none by default.

    Raises:
        ImproperlyConfigured: naming the variable that is missing, is not understood, or repeats an issuer.
    """
    found = [_provider("", "Single Sign-on")] if env.issuer("GEDAECHTNIS_OIDC_ISSUER") else []
    for name in sorted(env.optional_words("GEDAECHTNIS_OIDC_PROVIDERS")):
        if not _NAME.fullmatch(name):
            raise ImproperlyConfigured("GEDAECHTNIS_OIDC_PROVIDERS takes names of capital letters, digits and _.")
        provider = _provider(f"__{name}", name.replace("_", " ").title())
        if any(provider["provider_id"] == other["provider_id"] for other in found):
            raise ImproperlyConfigured(f"GEDAECHTNIS_OIDC_ISSUER__{name} is the issuer of another provider too.")
        found.append(provider)
    return found


def _provider(end: str, default_name: str) -> dict[str, Any]:
    """The provider whose variables end in `end`."""
    issuer = env.issuer("GEDAECHTNIS_OIDC_ISSUER" + end)
    if not issuer:
        raise ImproperlyConfigured(f"The environment variable GEDAECHTNIS_OIDC_ISSUER{end} is required.")
    return registration.app(
        issuer=issuer,
        client_id=env.text("GEDAECHTNIS_OIDC_CLIENT_ID" + end),
        secret=env.text("GEDAECHTNIS_OIDC_CLIENT_SECRET" + end, ""),
        name=env.text("GEDAECHTNIS_OIDC_NAME" + end, default_name),
        scopes=env.words("GEDAECHTNIS_OIDC_SCOPES" + end, "openid,profile"),
        groups_claim=env.text("GEDAECHTNIS_OIDC_GROUPS_CLAIM" + end, ""),
        groups=env.optional_words("GEDAECHTNIS_OIDC_GROUPS" + end),
    )
