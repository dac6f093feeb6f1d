"""The operations a planner refuses, as problems.

Texts are the English originals; whoever answers the caller knows the language and translates them.
"""

from __future__ import annotations

from uuid import UUID

from gedaechtnis.common.problems import Problem


def gettext_noop(message: str) -> str:
    """Marks a text for the message catalogues."""
    return message


def empty_interval() -> Problem:
    return Problem(
        "empty_interval",
        gettext_noop("The end must lie after the start. If only the end is known, give the start as “unknown”."),
        field="valid_to",
    )


def still_ended() -> Problem:
    return Problem(
        "still_ended",
        gettext_noop("Something cannot still hold and have an end that is already past."),
        field="valid_to",
    )


def before_start() -> Problem:
    return Problem(
        "before_start",
        gettext_noop("This cannot end before it began. If it never held, retract it instead."),
        field="at",
        extra={"instead": "retract"},
    )


def already_ended() -> Problem:
    return Problem(
        "already_ended",
        gettext_noop("This ended earlier already. If it held longer, state it with the later end."),
        status=409,
        field="at",
    )


def nothing_believed(fact_id: UUID) -> Problem:
    return Problem(
        "nothing_believed",
        gettext_noop("Nothing of this fact is believed any more."),
        status=409,
        extra={"fact_id": str(fact_id)},
    )


def stale(fact_id: UUID) -> Problem:
    return Problem(
        "stale",
        gettext_noop("The fact this builds on has changed since."),
        status=409,
        field="based_on_fact_id",
        extra={"fact_id": str(fact_id)},
    )
