from __future__ import annotations

from django.apps import AppConfig


class KnowledgeConfig(AppConfig):
    name = "gedaechtnis.knowledge"
    label = "knowledge"
