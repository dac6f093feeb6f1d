from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_save


class MemoryConfig(AppConfig):
    name = "gedaechtnis.memory"
    label = "memory"

    def ready(self) -> None:
        post_save.connect(_meet, sender="identity.User", dispatch_uid="memory.meet")


def _meet(*, instance: Any, created: bool, raw: bool, **kwargs: Any) -> None:
    """A new user is the first entity of their own memory."""
    if created and not raw:
        from gedaechtnis.memory.services.people import ensure_self  # noqa: PLC0415 (models must be loaded first)

        ensure_self(user=instance)
