"""Checking that a quotation really stands in a message of the scope's person."""

from __future__ import annotations

from gedaechtnis.chat.models import Message
from gedaechtnis.common.text import fold_space
from gedaechtnis.memory.ports import Quote
from gedaechtnis.memory.references import as_uuid

_PREFIX = "msg:"


def find_quote(scope_ref: str, ref: str, text: str) -> Quote | None:
    """The message `ref` names, if a person wrote it in this scope and it contains `text`."""
    id = as_uuid(ref.removeprefix(_PREFIX)) if ref.startswith(_PREFIX) else None
    if id is None:
        return None
    message = Message.objects.filter(pk=id, scope_ref=scope_ref, role=Message.Role.USER).first()
    if message is None or fold_space(text) not in fold_space(message.text):
        return None
    return Quote(message_id=message.pk, sent_at=message.sent_at, zone=message.sent_zone)
