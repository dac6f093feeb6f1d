"""Behind a TLS-terminating proxy that sets X-Forwarded-Proto, with external PostgreSQL and Redis.

GEDAECHTNIS_HOSTS is required: the names people reach the server under.
"""

from __future__ import annotations

from gedaechtnis.config import env
from gedaechtnis.config.settings.base import *  # noqa: F403
from gedaechtnis.config.settings.base import BASE_DIR, CSRF_COOKIE_NAME, LANGUAGE_COOKIE_NAME, SESSION_COOKIE_NAME

ALLOWED_HOSTS = env.words("GEDAECHTNIS_HOSTS")
CSRF_TRUSTED_ORIGINS = [
    f"https://{host.replace('.', '*.', 1) if host.startswith('.') else host}" for host in ALLOWED_HOSTS
]

SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_SSL_REDIRECT = True
SECURE_HSTS_SECONDS = 365 * 24 * 3600
SECURE_HSTS_INCLUDE_SUBDOMAINS = False
SESSION_COOKIE_SECURE = True
SESSION_COOKIE_NAME = f"__Host-{SESSION_COOKIE_NAME}"
CSRF_COOKIE_SECURE = True
CSRF_COOKIE_NAME = f"__Host-{CSRF_COOKIE_NAME}"
LANGUAGE_COOKIE_NAME = f"__Host-{LANGUAGE_COOKIE_NAME}"

STATIC_ROOT = BASE_DIR / "staticfiles"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
