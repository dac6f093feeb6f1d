"""Values in plain words."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

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


_WHY = {
    "inference": gettext_lazy("An agent concluded this; nobody said it."),
    "derived": gettext_lazy("It follows from what was said, but was not said like this."),
    "privileged": gettext_lazy("Rules and permissions always need your word."),
    "conflict": gettext_lazy("It contradicts what you said."),
    "review": gettext_lazy("I am not sure that I understood this rightly."),
}


def why_in_words(code: str) -> str:
    """Why an operation waits for a person, as one sentence."""
    return str(_WHY.get(code, code))
