from __future__ import annotations

from django.apps import AppConfig


class CuratorConfig(AppConfig):
    name = "curator"
    label = "curator"

    def ready(self) -> None:
        from curator import tasks  # noqa: PLC0415 (apps must be loaded first)

        tasks.register()
