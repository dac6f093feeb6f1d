"""What every way of running has in common.

Required: DATABASE_URL (role gedaechtnis_app), REDIS_URL, GEDAECHTNIS_SECRET_KEY. Migrations
also need DATABASE_OWNER_URL (role gedaechtnis_owner); servers and workers run without it.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import django_stubs_ext

from gedaechtnis.config import env, oidc
from gedaechtnis.config.beat import BEAT_SCHEDULE
from gedaechtnis.identity.oidc import registration
from gedaechtnis.scoping.pool import pool

# Lets classes of Django that are generic for the type checker only (admin, views, forms) take parameters at run time.
django_stubs_ext.monkeypatch()

BASE_DIR = Path(__file__).resolve().parents[3]
VAR_DIR = BASE_DIR / "var"

SECRET_KEY = env.text("GEDAECHTNIS_SECRET_KEY")
DEBUG = False
ALLOWED_HOSTS = env.words("GEDAECHTNIS_HOSTS", "localhost,127.0.0.1,[::1]")

# The zone and language of people who have not chosen their own.
GEDAECHTNIS_TIME_ZONE = env.time_zone("GEDAECHTNIS_TIME_ZONE", "Europe/Berlin")
# A worker must finish an item within its lease, or another one takes it over.
GEDAECHTNIS_WORK_LEASE_SECONDS = env.integer("GEDAECHTNIS_WORK_LEASE_SECONDS", 120, minimum=1)
GEDAECHTNIS_CURATOR_IDLE_SECONDS = env.integer("GEDAECHTNIS_CURATOR_IDLE_SECONDS", 30, minimum=0)
GEDAECHTNIS_CURATOR_MAX_TURNS = env.integer("GEDAECHTNIS_CURATOR_MAX_TURNS", 5, minimum=1)

# How many tokens the statements believed in a scope may have; 0: any number.
GEDAECHTNIS_SCOPE_MAX_TOKENS = env.integer("GEDAECHTNIS_SCOPE_MAX_TOKENS", 0, minimum=0)

# Wrong passwords of one account from one address in this time; ten times as many from an address in all.
GEDAECHTNIS_SIGN_IN_ATTEMPTS = env.integer("GEDAECHTNIS_SIGN_IN_ATTEMPTS", 5, minimum=1)
GEDAECHTNIS_SIGN_IN_WINDOW_SECONDS = env.integer("GEDAECHTNIS_SIGN_IN_WINDOW_SECONDS", 900, minimum=1)
GEDAECHTNIS_TOKEN_REQUESTS_PER_MINUTE = env.integer("GEDAECHTNIS_TOKEN_REQUESTS_PER_MINUTE", 600, minimum=1)

# What finds by meaning; nothing above the clearance is sent to an endpoint.
GEDAECHTNIS_EMBEDDINGS = env.embeddings("GEDAECHTNIS_EMBEDDINGS", "bundled")
GEDAECHTNIS_EMBEDDINGS_KEY = env.text("GEDAECHTNIS_EMBEDDINGS_KEY", "")
GEDAECHTNIS_EMBEDDINGS_CLEARANCE = int(env.choice("GEDAECHTNIS_EMBEDDINGS_CLEARANCE", "1", ("0", "1", "2", "3")))

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.socialaccount",
    "channels",
    "csp",
    "django_htmx",
    "template_partials",
    "gedaechtnis.identity",
    "gedaechtnis.identity.oidc",
    "gedaechtnis.scoping",
    "gedaechtnis.registry",
    "gedaechtnis.world",
    "gedaechtnis.memory",
    "gedaechtnis.knowledge",
    "gedaechtnis.chat",
    "gedaechtnis.embeddings",
    "gedaechtnis.web",
    "gedaechtnis.live",
    "gedaechtnis.mcp",
    "curator",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "gedaechtnis.config.static.StaticFilesMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "gedaechtnis.identity.sessions.SessionActivityMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "gedaechtnis.web.middleware.PersonMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "gedaechtnis.config.urls"
ASGI_APPLICATION = "gedaechtnis.config.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# Under ASGI each request has a thread of its own, so a connection kept by its thread would never be used again:
# they are kept by the process. Each is looked at before it is used, as the database may have been restarted.
DATABASES: dict[str, dict[str, Any]] = {"default": env.database("DATABASE_URL")}
DATABASES["default"]["OPTIONS"]["pool"] = pool(env.integer("GEDAECHTNIS_DATABASE_CONNECTIONS", 16, minimum=2))
# Statements that come again are planned once on a connection; their parameters travel beside them.
DATABASES["default"]["OPTIONS"] |= {
    "server_side_binding": True,
    "prepare_threshold": env.integer("GEDAECHTNIS_DATABASE_PREPARE_AFTER", 3, minimum=0) or None,
}
DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
if os.environ.get("DATABASE_OWNER_URL"):
    DATABASES["owner"] = env.database("DATABASE_OWNER_URL")
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "identity.User"
AUTHENTICATION_BACKENDS = ["gedaechtnis.identity.backends.PasswordBackend"]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"
# Identity providers, if there are any. People are known by issuer and subject; no e-mail address is kept.
_OIDC = oidc.providers()
SOCIALACCOUNT_PROVIDERS: dict[str, Any] = {"openid_connect": {"APPS": _OIDC}}
SOCIALACCOUNT_ADAPTER = "gedaechtnis.identity.oidc.adapters.SocialAccountAdapter"
SOCIALACCOUNT_STORE_TOKENS = False
ACCOUNT_ADAPTER = "gedaechtnis.identity.oidc.adapters.AccountAdapter"
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_SIGNUP_FIELDS = ["username*"]

PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

SESSION_ENGINE = "gedaechtnis.identity.sessions"
# A browser sends cookies to every port of a host name: the key tells the cookies of several instances apart.
INSTANCE = hashlib.blake2b(SECRET_KEY.encode(), digest_size=4, person=b"cookie names").hexdigest()
SESSION_COOKIE_NAME = f"gedaechtnis_session_{INSTANCE}"
# A session ends after this time without a request, and after that one in any case.
SESSION_COOKIE_AGE = env.integer("GEDAECHTNIS_SESSION_IDLE_SECONDS", 1800, minimum=60)
GEDAECHTNIS_SESSION_MAX_SECONDS = env.integer("GEDAECHTNIS_SESSION_MAX_SECONDS", 12 * 3600, minimum=60)
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_NAME = f"gedaechtnis_csrf_{INSTANCE}"
CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_SAMESITE = "Lax"
LANGUAGE_COOKIE_NAME = f"gedaechtnis_language_{INSTANCE}"
X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'self'"],
        "connect-src": ["'self'"],
        "object-src": ["'none'"],
        "base-uri": ["'self'"],
        # A form that is answered by a redirect may only lead where this says.
        "form-action": ["'self'", *(registration.origin(provider["settings"]["issuer"]) for provider in _OIDC)],
        "frame-ancestors": ["'none'"],
    },
}

USE_TZ = True
TIME_ZONE = "UTC"
USE_I18N = True
LANGUAGES = [("de", "Deutsch"), ("en", "English")]
LANGUAGE_CODE = env.choice("GEDAECHTNIS_LANGUAGE", "de", tuple(code for code, _ in LANGUAGES))
LOCALE_PATHS = [BASE_DIR / "locale"]

NODE_MODULES = BASE_DIR / "node_modules"
STATIC_URL = "static/"
WHITENOISE_ALLOW_ALL_ORIGINS = False
STATICFILES_DIRS = [
    BASE_DIR / "static",
    ("vendor/htmx", NODE_MODULES / "htmx.org" / "dist"),
    ("vendor/inter", NODE_MODULES / "@fontsource-variable" / "inter" / "files"),
    ("vendor/source-serif", NODE_MODULES / "@fontsource-variable" / "source-serif-4" / "files"),
]

REDIS_URL = env.redis_url("REDIS_URL")
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.core.RedisChannelLayer",
        # An idle line waits at Redis for five seconds at a time: a client that gives up as soon would end it.
        "CONFIG": {"hosts": [{"address": REDIS_URL, "socket_timeout": 15}], "prefix": "gedaechtnis.live"},
    },
}

CELERY_BROKER_URL = REDIS_URL
CELERY_RESULT_BACKEND = None
CELERY_TASK_IGNORE_RESULT = True
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_SERIALIZER = "json"
CELERY_TASK_ACKS_LATE = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_SOFT_TIME_LIMIT = 270
CELERY_TASK_TIME_LIMIT = 300
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {
    # Redis hands an unacknowledged task out again after this time: it must exceed every time limit.
    "visibility_timeout": 900,
    "socket_connect_timeout": 1,
    "socket_timeout": 2,
    "socket_keepalive": True,
    "global_keyprefix": "gedaechtnis.work.",
}
# Publishing only hastens what the work table holds anyway, so it gives up within a second.
CELERY_TASK_PUBLISH_RETRY_POLICY = {"max_retries": 1, "interval_start": 0, "interval_step": 0.2, "interval_max": 0.2}
CELERY_BEAT_SCHEDULE = BEAT_SCHEDULE
CELERY_BEAT_SCHEDULE_FILENAME = str(VAR_DIR / "beat-schedule")
CELERY_BEAT_MAX_LOOP_INTERVAL = 1
CELERY_TIMEZONE = "UTC"
CELERY_WORKER_HIJACK_ROOT_LOGGER = False

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "()": "gedaechtnis.config.logs.PrivateFormatter",
            "format": "%(levelname)s %(name)s: %(message)s",
        },
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": "INFO"},
    "loggers": {
        "django": {"handlers": [], "level": "INFO", "propagate": True},
        "uvicorn": {"handlers": [], "level": "INFO", "propagate": True},
        # Addresses hold what people look for.
        "uvicorn.access": {"handlers": [], "level": "WARNING", "propagate": False},
        # At INFO it tells of every connection that is taken and brought back.
        "psycopg.pool": {"level": "WARNING"},
        # At INFO it tells of every request.
        "httpx": {"level": "WARNING"},
        # One tick a second would drown everything else.
        "celery.app.trace": {"level": "WARNING"},
        "celery.beat": {"level": "WARNING"},
        "celery.worker.strategy": {"level": "WARNING"},
    },
}
