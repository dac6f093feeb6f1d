"""What the validator of forms refuses, as our codes and in the reader's words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

_WORDINGS = {
    "missing": ("missing", gettext_lazy("This is missing.")),
    "extra_forbidden": ("unknown_field", gettext_lazy("There is no such field.")),
    "string_too_long": ("too_long", gettext_lazy("At most %(max_length)s characters are allowed.")),
    "string_too_short": ("too_short", gettext_lazy("At least %(min_length)s characters are needed.")),
    "too_long": ("too_long", gettext_lazy("At most %(max_length)s entries are allowed.")),
    "too_short": ("too_short", gettext_lazy("At least %(min_length)s entries are needed.")),
    "literal_error": ("invalid_choice", gettext_lazy("This must be one of: %(expected)s.")),
    "enum": ("invalid_choice", gettext_lazy("This must be one of: %(expected)s.")),
    "union_tag_invalid": ("invalid_choice", gettext_lazy("“op” must be one of: %(expected_tags)s.")),
    "union_tag_not_found": ("missing", gettext_lazy("“op” is missing: it says which operation this is.")),
    "greater_than_equal": ("out_of_range", gettext_lazy("This must be at least %(ge)s.")),
    "less_than_equal": ("out_of_range", gettext_lazy("This must be at most %(le)s.")),
    "uuid_parsing": ("invalid_id", gettext_lazy("This is not an identifier (a UUID).")),
    "string_unicode": ("invalid_text", gettext_lazy("The text contains half a character (a lone surrogate).")),
}
"""Kinds of form errors as the validator names them: our code, and what people read."""


def worded(error: Mapping[str, Any]) -> tuple[str, str]:
    """The code and the sentence of one entry of `ValidationError.errors()`."""
    kind = str(error["type"])
    if kind in _WORDINGS:
        code, wording = _WORDINGS[kind]
        return code, str(wording) % error.get("ctx", {})
    if kind.endswith(("_type", "_parsing")):
        return "invalid_type", _("This is of the wrong type.")
    return "invalid_value", _("This does not fit here.")
