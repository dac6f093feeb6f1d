"""The test suite: as in development, with a fast password hash and Celery tasks that tests call themselves."""

from __future__ import annotations

from gedaechtnis.config.settings.base import *  # noqa: F403
from gedaechtnis.config.settings.base import ALLOWED_HOSTS

ALLOWED_HOSTS = [*ALLOWED_HOSTS, "testserver"]
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = False
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
