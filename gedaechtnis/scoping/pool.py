"""Connections are shared by all requests of a process; none may keep what one of them set.

Imported by the settings: nothing here needs the apps.
"""

from __future__ import annotations

from typing import Any

from psycopg import Connection

SETTINGS = (
    "gedaechtnis.read_scopes",
    "gedaechtnis.write_scope",
    "gedaechtnis.current_org",
    "gedaechtnis.clearance",
)
"""What the policies read, in the order in which the door sets it."""

_FORGET = "; ".join(f"RESET {name}" for name in SETTINGS)


def pool(size: int) -> dict[str, Any]:
    """Options of Django's connection pool for one process.

    Opening a connection takes longer than most requests. None is opened before it is needed, so that a command opens
    one, and a process that is forked before takes none along.
    """
    return {"min_size": 0, "max_size": size, "timeout": 10, "reset": forget}


def forget(connection: Connection[Any]) -> None:
    """Clear our settings of a connection that comes back.

    The door sets them for its transaction only; this is for what somebody may set for the session one day. Not all
    settings: the time zone is Django's and stays. An error here makes the pool throw the connection away.
    """
    connection.execute(_FORGET)
    connection.commit()
