"""A model by its address, made once in a process."""

from __future__ import annotations

from functools import cache

from django.conf import settings

from gedaechtnis.embeddings import addresses
from gedaechtnis.embeddings.breaker import Breaker
from gedaechtnis.embeddings.bundled import BundledModel
from gedaechtnis.embeddings.openai_compatible import OpenAICompatibleModel
from gedaechtnis.memory.ports import EmbeddingModel


@cache
def model_at(address: str) -> EmbeddingModel:
    """The model of an address; key and clearance come from the settings. Raises ValueError where it is none."""
    if address == addresses.BUNDLED:
        return BundledModel()
    return Breaker(
        OpenAICompatibleModel(
            address, key=settings.GEDAECHTNIS_EMBEDDINGS_KEY, clearance=settings.GEDAECHTNIS_EMBEDDINGS_CLEARANCE
        )
    )
