"""Services of one's own: whether the environment names them all, and whether they are as they must be.

A server that starts on half a configuration fails later and elsewhere, so everything that is
missing is told at once. Messages never hold a password.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

import psycopg
import redis

from gedaechtnis.embedded.errors import EmbeddedError

MINIMUM_POSTGRES = 18
EXTENSIONS = ("btree_gist", "pg_trgm", "unaccent", "vector")

_ADDRESSES = ("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL")
_REQUIRED = {
    "DATABASE_URL": "the application's role, postgresql://gedaechtnis_app:…@host/gedaechtnis",
    "DATABASE_OWNER_URL": "the role that migrates, postgresql://gedaechtnis_owner:…@host/gedaechtnis",
    "REDIS_URL": "Redis or Valkey, redis://:…@host/0",
    "GEDAECHTNIS_SECRET_KEY": "a long random text, always the same one",
}
_GUIDE = "See docs/howto/external-postgres.md."


def wanted() -> bool:
    """Whether the environment names any service of one's own: then no bundled one is started."""
    return any(os.environ.get(name) for name in _ADDRESSES)


def check() -> None:
    """Make sure that all services are named, answer, and are prepared.

    Raises EmbeddedError that names every variable that is missing, else everything that is wrong.
    """
    missing = [f"  {name}: {meaning}" for name, meaning in _REQUIRED.items() if not os.environ.get(name)]
    if missing:
        raise EmbeddedError("\n".join(["Services of your own need more variables:", *missing, _GUIDE]))
    wrong = [*_wrong_with_database("DATABASE_URL"), *_wrong_with_database("DATABASE_OWNER_URL")]
    wrong += _wrong_with_redis("REDIS_URL")
    if wrong:
        lines = dict.fromkeys(f"  {line}" for line in wrong)
        raise EmbeddedError("\n".join(["The services of your own cannot be used:", *lines, _GUIDE]))


def database_parameters(name: str, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The parts of a database address as libpq names them (`host`, `user`, `password`, …).

    Raises EmbeddedError without quoting the address: it holds a password.
    """
    address = environment[name]
    try:
        url = urlsplit(address)
        if url.scheme not in {"postgres", "postgresql"} or url.netloc.count("@") != 1:
            raise ValueError
        parameters = psycopg.conninfo.conninfo_to_dict(address)
    except (ValueError, psycopg.ProgrammingError):
        raise EmbeddedError(
            f"{name} is no address of the form postgresql://role:password@host:port/database;"
            " write @ : / ? # % of a password as %40 %3A %2F %3F %23 %25."
        ) from None
    return {key: str(value) for key, value in parameters.items() if value is not None}


def _wrong_with_database(name: str) -> Iterator[str]:
    try:
        parameters = {"connect_timeout": "5", **database_parameters(name)}
        with psycopg.connect(psycopg.conninfo.make_conninfo("", **parameters)) as connection:
            version = connection.info.server_version // 10_000
            extensions = {row[0] for row in connection.execute("SELECT extname FROM pg_extension")}
    except EmbeddedError as error:
        yield str(error)
        return
    except psycopg.OperationalError as error:
        yield f"{name}: {str(error).splitlines()[0]}"
        return
    if version < MINIMUM_POSTGRES:
        yield f"{name}: PostgreSQL {version} is too old, {MINIMUM_POSTGRES} is needed"
    if lacking := sorted(set(EXTENSIONS) - extensions):
        yield f"the database {parameters.get('dbname')} lacks the extensions: {', '.join(lacking)}"


def _wrong_with_redis(name: str) -> Iterator[str]:
    try:
        with redis.Redis.from_url(os.environ[name], socket_connect_timeout=5, socket_timeout=5) as client:
            client.ping()
    except ValueError:
        yield f"{name}: no address of the form redis://:password@host:port/0"
    except redis.exceptions.RedisError as error:
        yield f"{name}: {error}"
