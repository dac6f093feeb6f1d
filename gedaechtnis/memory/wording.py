"""Values in plain words."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _

from gedaechtnis.common import canonical
from gedaechtnis.common.text import fold_space


def readable(value: Any) -> str:
    """A literal as plain text in the reader's language."""
    if isinstance(value, str):
        return fold_space(value)
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, int | float):
        return f"{value:g}" if isinstance(value, float) else str(value)
    return canonical.canonical(value)
