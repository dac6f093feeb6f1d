from __future__ import annotations

from django.apps import AppConfig
from django.conf import settings


class EmbeddingsConfig(AppConfig):
    name = "gedaechtnis.embeddings"
    label = "embeddings"

    def ready(self) -> None:
        from gedaechtnis.embeddings.addresses import NONE  # noqa: PLC0415 (apps must be loaded first)
        from gedaechtnis.embeddings.models import model_at  # noqa: PLC0415
        from gedaechtnis.memory import ports  # noqa: PLC0415

        wanted = settings.GEDAECHTNIS_EMBEDDINGS
        ports.bind_embedding_model(None if wanted == NONE else model_at(wanted), model_at)
