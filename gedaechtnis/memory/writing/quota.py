"""How much a scope may hold, where a limit is set: `GEDAECHTNIS_SCOPE_MAX_TOKENS`.

A token is four characters of a believed sentence, begun ones count. A statement counts as it was said and while its
end is open; what ending, replacing or confirming it leaves of its past does not, nor does the other end of what holds
both ways. So changing something costs the difference alone.
"""

from __future__ import annotations

from django.db import connection
from django.utils.translation import gettext as _

from gedaechtnis.common.problems import Problem
from gedaechtnis.world.models import Fact

_CHARACTERS = 4
_STORED = """
SELECT COALESCE(SUM((char_length(statement) + %s) / %s), 0) FROM facts
WHERE scope_ref = %s AND superseded_at IS NULL AND mirror_of IS NULL AND (id = origin_fact_id OR valid_to IS NULL)
"""


def tokens_of(row: Fact) -> int:
    """What a believed row counts."""
    if row.mirror_of is not None or (row.pk != row.origin_fact_id and row.valid_to is not None):
        return 0
    return -(-len(row.statement) // _CHARACTERS)


def stored(scope_ref: str) -> int:
    """The tokens that a scope holds, read within it under its clock."""
    with connection.cursor() as cursor:
        cursor.execute(_STORED, [_CHARACTERS - 1, _CHARACTERS, scope_ref])
        return int(cursor.fetchone()[0])


def exceeded(*, used: int, limit: int, needed: int) -> Problem:
    """`needed` tokens more are one too many."""
    return Problem(
        "quota_exceeded",
        _(
            "This needs %(needed)s tokens more, and %(used)s of %(limit)s are used here. "
            "Shorten something or take it back first."
        )
        % {"needed": needed, "used": used, "limit": limit},
        409,
        extra={"used": used, "limit": limit, "needed": needed},
    )
