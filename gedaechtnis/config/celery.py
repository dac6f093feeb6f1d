"""The Celery application: an accelerator for the work table, never the only record of anything."""

from __future__ import annotations

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gedaechtnis.config.settings.dev")

app = Celery("gedaechtnis")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
