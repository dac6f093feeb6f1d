from __future__ import annotations

from django.apps import AppConfig


class LiveConfig(AppConfig):
    name = "gedaechtnis.live"
    label = "live"

    def ready(self) -> None:
        from gedaechtnis.identity import access  # noqa: PLC0415 - apps must be loaded
        from gedaechtnis.live.publisher import publish  # noqa: PLC0415
        from gedaechtnis.memory import ports  # noqa: PLC0415

        ports.bind_publisher(publish)
        access.bind_publisher(publish)
