"""Strict reading of environment variables.

Every reader raises `ImproperlyConfigured` with the name of the variable when the value is
missing (and no default is given) or cannot be understood: a server that starts with a
half-read configuration fails later and elsewhere. Values are never part of a message, as
they may be secrets.
"""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit
from zoneinfo import ZoneInfo

from django.core.exceptions import ImproperlyConfigured

from gedaechtnis.embeddings import addresses

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})


def text(name: str, default: str | None = None) -> str:
    """The variable as it stands; an empty value counts as missing."""
    value = os.environ.get(name) or default
    if value is None:
        raise ImproperlyConfigured(f"The environment variable {name} is required.")
    return value


def boolean(name: str, default: bool) -> bool:
    """1/true/yes/on or 0/false/no/off, in any case."""
    value = text(name, str(default)).strip().lower()
    if value in _TRUE:
        return True
    if value in _FALSE:
        return False
    raise ImproperlyConfigured(f"The environment variable {name} must be one of 1, 0, true, false, yes, no, on, off.")


def integer(name: str, default: int, *, minimum: int) -> int:
    """A whole number of at least `minimum`."""
    try:
        value = int(text(name, str(default)))
    except ValueError:
        raise ImproperlyConfigured(f"The environment variable {name} must be a whole number.") from None
    if value < minimum:
        raise ImproperlyConfigured(f"The environment variable {name} must be at least {minimum}.")
    return value


def words(name: str, default: str | None = None) -> list[str]:
    """A comma-separated list with at least one entry."""
    value = [word.strip() for word in text(name, default).split(",") if word.strip()]
    if not value:
        raise ImproperlyConfigured(f"The environment variable {name} must name at least one value.")
    return value


def optional_words(name: str) -> frozenset[str]:
    """A comma-separated list that may be empty."""
    return frozenset(word.strip() for word in text(name, "").split(",") if word.strip())


def issuer(name: str) -> str:
    """An OpenID Connect issuer as it names itself, or empty; without TLS only on this machine."""
    value = text(name, "")
    parts = urlsplit(value)
    is_local = parts.hostname in {"localhost", "127.0.0.1", "::1"}
    if value and not (parts.hostname and (parts.scheme == "https" or (parts.scheme == "http" and is_local))):
        raise ImproperlyConfigured(f"The environment variable {name} must start with https:// and name a host.")
    return value


def choice(name: str, default: str, allowed: tuple[str, ...]) -> str:
    """One of the allowed values."""
    value = text(name, default)
    if value not in allowed:
        raise ImproperlyConfigured(f"The environment variable {name} must be one of: {', '.join(allowed)}.")
    return value


def time_zone(name: str, default: str) -> str:
    """The IANA name of a time zone that exists here."""
    value = text(name, default)
    try:
        ZoneInfo(value)
    except (KeyError, ValueError, OSError):
        raise ImproperlyConfigured(f"The environment variable {name} must be an IANA time zone name.") from None
    return value


def redis_url(name: str) -> str:
    """A redis://, rediss:// or unix:// address, for Redis and Valkey alike."""
    value = text(name)
    if urlsplit(value).scheme not in {"redis", "rediss", "unix"}:
        raise ImproperlyConfigured(f"The environment variable {name} must start with redis://, rediss:// or unix://.")
    return value


def embeddings(name: str, default: str) -> str:
    """The address of an embedding model, or `none`."""
    try:
        return addresses.check(text(name, default))
    except ValueError as error:
        raise ImproperlyConfigured(f"The environment variable {name} {error}.") from None


def database(name: str) -> dict[str, Any]:
    """A `DATABASES` entry from postgresql://user:password@host:port/name?option=value.

    Query options are handed to libpq (`sslmode`, `connect_timeout`, …).
    """
    try:
        url = urlsplit(text(name))
        port = url.port
        options = dict(parse_qsl(url.query, keep_blank_values=True, strict_parsing=bool(url.query)))
    except ValueError:
        raise ImproperlyConfigured(f"The environment variable {name} is not a valid address.") from None
    if url.scheme not in {"postgres", "postgresql"}:
        raise ImproperlyConfigured(f"The environment variable {name} must start with postgresql://.")
    database_name = unquote(url.path.removeprefix("/"))
    if not (url.username and database_name):
        raise ImproperlyConfigured(f"The environment variable {name} must name a role and a database.")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": database_name,
        "USER": unquote(url.username),
        "PASSWORD": unquote(url.password or ""),
        "HOST": unquote(url.hostname or ""),
        "PORT": str(port or ""),
        "OPTIONS": {"connect_timeout": "5", **options},
    }
