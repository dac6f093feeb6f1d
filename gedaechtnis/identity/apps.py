from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class IdentityConfig(AppConfig):
    name = "gedaechtnis.identity"
    label = "identity"
    verbose_name = _("people and groups")

    def ready(self) -> None:
        from gedaechtnis.identity import audit, sessions  # noqa: PLC0415 (apps must be loaded first)

        audit.listen()
        sessions.listen()
