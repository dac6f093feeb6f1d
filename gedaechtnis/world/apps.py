from __future__ import annotations

from django.apps import AppConfig


class WorldConfig(AppConfig):
    name = "gedaechtnis.world"
    label = "world"

    def ready(self) -> None:
        from gedaechtnis.world import partitions  # noqa: F401, PLC0415 (registers its work)
