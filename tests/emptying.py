"""Takes away what a test wrote, quickly: after thousands of tests that is what most of a run would be spent with."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import psycopg
import redis

from gedaechtnis.identity import limits
from gedaechtnis.registry import catalogue
from gedaechtnis.scoping import tallies

_KEPT = {
    *("django_migrations", "django_content_type", "auth_permission"),
    *("registry_entitykind", "registry_eventtype", "registry_predicate"),
}
_MUCH = 1 << 20
"""Bytes from which on a table is truncated rather than deleted from; deleted rows count, so they do not pile up."""
_DEADLOCKS = 10


def emptier() -> Callable[[], None]:
    """What empties database and counters of all that was written, for tables as they are now."""
    with psycopg.connect(os.environ["DATABASE_ADMIN_URL"], autocommit=True) as admin:
        tables = _names(admin, "relkind IN ('r', 'p') AND NOT relispartition")
    counters = redis.Redis.from_url(os.environ["REDIS_URL"])

    def empty() -> None:
        for prefix in (limits.PREFIX, tallies.PREFIX):
            for key in counters.scan_iter(f"{prefix}*"):
                counters.delete(key)
        with psycopg.connect(os.environ["DATABASE_ADMIN_URL"], autocommit=True) as admin:
            for left in reversed(range(_DEADLOCKS)):
                try:
                    _empty(admin, tables)
                    break
                except psycopg.errors.DeadlockDetected:  # a worker of the running stack is still at it
                    if not left:
                        raise
                    time.sleep(0.2)
            admin.execute("DELETE FROM registry_predicate WHERE source <> 'core'")
        catalogue.forget()

    return empty


def _empty(admin: psycopg.Connection, tables: list[str]) -> None:
    """Truncating makes new files for every table and index, a tenth of a second of them; deleting little is nothing."""
    everything = ", ".join(tables)
    with admin.transaction():
        admin.execute(f"LOCK TABLE {everything} IN ACCESS EXCLUSIVE MODE")  # nobody is in the middle of writing
        if _names(admin, f"relkind = 'r' AND pg_relation_size(oid) > {_MUCH}"):
            admin.execute(f"TRUNCATE {everything} CASCADE")
        else:
            admin.execute("SET LOCAL session_replication_role = replica")  # neither triggers nor foreign keys
            for table in _names(admin, "relkind = 'r' AND pg_relation_size(oid) > 0"):
                admin.execute(f"DELETE FROM {table}")
        admin.execute(
            "SELECT setval(seqrelid, seqstart, false) FROM pg_sequence JOIN pg_depend ON objid = seqrelid "
            "WHERE deptype IN ('a', 'i') AND refobjid = ANY (%s::regclass[])",
            [tables],
        )


def _names(admin: psycopg.Connection, which: str) -> list[str]:
    rows = admin.execute(f"SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND {which}")
    return [f'"{name}"' for (name,) in rows if name not in _KEPT]
