"""One person's own machine: like production, but over plain HTTP and without collected static files."""

from __future__ import annotations

from gedaechtnis.config import env
from gedaechtnis.config.settings.base import *  # noqa: F403

DEBUG = env.boolean("GEDAECHTNIS_DEBUG", False)
WHITENOISE_USE_FINDERS = True
# Files may change under a running server (an edit, a pull); their sizes must not be remembered.
WHITENOISE_AUTOREFRESH = True
