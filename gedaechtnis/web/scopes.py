"""Scopes in words: who else sees a row."""

from __future__ import annotations

from uuid import UUID

from django.utils.translation import gettext as _

from gedaechtnis.identity.models import Group, Org


def scope_words(scope_ref: str) -> str:
    """`private`, a group's or an org's name, or `everyone`."""
    kind, _colon, key = scope_ref.partition(":")
    match kind:
        case "user":
            return _("private")
        case "group":
            name = Group.objects.filter(id=UUID(key)).values_list("name", flat=True).first()
        case "org":
            name = Org.objects.filter(id=UUID(key)).values_list("name", flat=True).first()
        case _:
            return _("everyone")
    return name or _("a former group")
