"""Wiring only: settings, URLs, the ASGI and Celery applications, the beat schedule."""

from __future__ import annotations

# Tasks declared with `shared_task` find the application only if it exists in every process.
from gedaechtnis.config.celery import app as celery_app

__all__ = ["celery_app"]
