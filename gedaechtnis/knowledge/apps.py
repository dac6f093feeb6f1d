from __future__ import annotations

from django.apps import AppConfig


class KnowledgeConfig(AppConfig):
    name = "gedaechtnis.knowledge"
    label = "knowledge"

    def ready(self) -> None:
        from gedaechtnis.knowledge import grants, sources  # noqa: PLC0415 (models are not loaded before)
        from gedaechtnis.memory import ports  # noqa: PLC0415

        ports.bind_source_checker(sources.unknown_sources)
        ports.bind_domain_guard(grants.check_domain)
