"""A server that has the failing page and task."""

from __future__ import annotations

from gedaechtnis.config.settings.test import *  # noqa: F403

ROOT_URLCONF = "tests.failing"
CELERY_INCLUDE = ["tests.failing"]
