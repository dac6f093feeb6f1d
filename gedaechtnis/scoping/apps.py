from __future__ import annotations

from django.apps import AppConfig


class ScopingConfig(AppConfig):
    name = "gedaechtnis.scoping"
    label = "scoping"

    def ready(self) -> None:
        from gedaechtnis.scoping import checks, tasks, work  # noqa: PLC0415 (apps must be loaded first)

        checks.register()
        work.bind_nudge(tasks.nudge_worker)
