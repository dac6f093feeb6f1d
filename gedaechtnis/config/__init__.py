"""Wiring only: settings, URLs, the ASGI and Celery applications, the beat schedule."""

from __future__ import annotations
