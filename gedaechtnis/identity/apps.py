from __future__ import annotations

from django.apps import AppConfig


class IdentityConfig(AppConfig):
    name = "gedaechtnis.identity"
    label = "identity"

    def ready(self) -> None:
        from gedaechtnis.identity import audit, sessions  # noqa: PLC0415 (apps must be loaded first)

        audit.listen()
        sessions.listen()
