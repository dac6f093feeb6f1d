from __future__ import annotations

from functools import partial
from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_delete, post_save


class MemoryConfig(AppConfig):
    name = "gedaechtnis.memory"
    label = "memory"

    def ready(self) -> None:
        # Their work needs handlers.
        from gedaechtnis.memory.projecting import index, usage, vectors  # noqa: F401, PLC0415
        from gedaechtnis.memory.services import erasure, following, identification, predicates  # noqa: F401, PLC0415
        from gedaechtnis.memory.transfer import archives  # noqa: F401, PLC0415

        post_save.connect(_meet, sender="identity.User", dispatch_uid="memory.meet")
        post_save.connect(_follow_group, sender="identity.Group", dispatch_uid="memory.follow_group")
        for kind, sender in (("user", "User"), ("group", "Group"), ("org", "Org")):
            post_delete.connect(
                partial(_erase, kind), sender=f"identity.{sender}", weak=False, dispatch_uid=f"memory.erase_{kind}"
            )


def _meet(*, instance: Any, created: bool, raw: bool, **kwargs: Any) -> None:
    """A new user is the first entity of their own memory."""
    if created and not raw:
        from gedaechtnis.memory.services.people import ensure_self  # noqa: PLC0415 (models must be loaded first)

        ensure_self(user=instance)


def _follow_group(*, instance: Any, created: bool, raw: bool, **kwargs: Any) -> None:
    """Whoever closes a group, and at whatever door: nobody writes in it, and in time it is erased."""
    if not created and not raw:
        from gedaechtnis.memory.services.erasure import follow_group  # noqa: PLC0415 (models must be loaded first)

        follow_group(instance)


def _erase(kind: str, *, instance: Any, **kwargs: Any) -> None:
    """Whoever deletes a person, group or org, and at whatever door: what was remembered for them goes with them."""
    from gedaechtnis.memory.services.erasure import erase  # noqa: PLC0415 (models must be loaded first)

    erase(f"{kind}:{instance.sub if kind == 'user' else instance.pk}")
