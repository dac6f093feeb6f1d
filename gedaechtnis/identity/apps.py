from __future__ import annotations

from django.apps import AppConfig


class IdentityConfig(AppConfig):
    name = "gedaechtnis.identity"
    label = "identity"
