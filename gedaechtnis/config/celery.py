"""The Celery application: an accelerator for the work table, never the only record of anything."""

from __future__ import annotations

import os
import warnings

from celery import Celery
from celery.exceptions import SecurityWarning
from celery.signals import worker_init

from gedaechtnis.config.startup import settle

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gedaechtnis.config.settings.dev")

# A worker of root, as in a container, would print a paragraph at each start; tasks are JSON, so none brings code along.
warnings.filterwarnings("ignore", category=SecurityWarning)

app = Celery("gedaechtnis")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_init.connect
def _started(**_kwargs: object) -> None:
    """Before its processes are forked, so that they share what it made."""
    settle()
