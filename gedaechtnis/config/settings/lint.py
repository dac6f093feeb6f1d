"""For type checking and `makemigrations --check`: needs neither services nor environment."""

from __future__ import annotations

import os

os.environ.setdefault("DATABASE_URL", "postgresql://nobody@localhost/nothing")
os.environ.setdefault("REDIS_URL", "redis://localhost/0")
os.environ.setdefault("GEDAECHTNIS_SECRET_KEY", "for static checks only")

from gedaechtnis.config.settings.base import *  # noqa: F403

DATABASES = {"default": {"ENGINE": "django.db.backends.dummy"}}
