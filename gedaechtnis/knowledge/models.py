"""Tables of what agents share and keep for themselves in a workspace. Changed by functions of `knowledge` only."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models.functions import Length
from django.db.models.lookups import LessThanOrEqual
from django.utils.translation import gettext_lazy as _

from gedaechtnis.memory.schemas import MemoryType
from gedaechtnis.scoping.models import ScopedModel

LONGEST_NOTES, LONGEST_ENTRY = 8_000, 2_000
"""Characters."""
_REMEMBERED = [str(kind) for kind in MemoryType if kind is not MemoryType.POLICY]


def _at_most(characters: int) -> LessThanOrEqual:
    """Also of what comes by an import: all of it is told to agents."""
    return LessThanOrEqual(Length("text"), characters)


class DomainGrant(ScopedModel):
    """What agents of a role may do in a domain of the workspace; "" stands for every role that is not named.

    Without a row every role may write.
    """

    app_privileges = ("SELECT", "INSERT", "UPDATE", "DELETE")

    class Permission(models.TextChoices):
        NONE = "none", _("nothing")
        READ = "read", _("read")
        WRITE = "write", _("read and write")

    domain = models.CharField(max_length=200)
    agent_role = models.CharField(max_length=50, blank=True)
    permission = models.CharField(max_length=5, choices=Permission.choices)

    class Meta:
        db_table = "domain_grants"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["scope_ref", "domain", "agent_role"], name="domain_grants_once"),
            models.CheckConstraint(
                condition=models.Q(permission__in=["none", "read", "write"]), name="domain_grants_permission"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.agent_role or '*'} → {self.domain}: {self.permission}"


class OwnedModel(ScopedModel):
    """What one agent of one person keeps in a workspace: no other member reads it.

    `agent` is the agent's role; "" is the person themself.
    """

    owned = True

    owner_ref = models.TextField()
    agent = models.CharField(max_length=50, blank=True)

    class Meta:
        abstract = True


class WorkingMemory(OwnedModel):
    """An agent's notes: one text, kept between runs and given to it before each. `version` rises with each change."""

    text = models.TextField(blank=True)
    version = models.IntegerField(default=0)
    updated_at = models.DateTimeField()

    class Meta:
        db_table = "working_memories"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["scope_ref", "owner_ref", "agent"], name="working_memories_once"),
            models.CheckConstraint(condition=_at_most(LONGEST_NOTES), name="working_memories_length"),
        ]

    def __str__(self) -> str:
        return f"{self.agent or self.owner_ref} #{self.version}"


class Observation(OwnedModel):
    """Something an agent noticed; as `obs:<id>` a source of what it proposes, so it never changes."""

    app_privileges = ("SELECT", "INSERT")

    text = models.TextField()
    recorded_at = models.DateTimeField()

    class Meta:
        db_table = "observations"
        constraints: ClassVar = [models.CheckConstraint(condition=_at_most(LONGEST_ENTRY), name="observations_length")]
        indexes: ClassVar = [
            models.Index(fields=["scope_ref", "owner_ref", "agent", "recorded_at"], name="observations_recorded")
        ]

    def __str__(self) -> str:
        return f"obs:{self.pk}"


class HotEntry(OwnedModel):
    """Something an agent wants remembered, before it is decided whether it lasts (`state`).

    Promoted, it was made into the proposal `proposal_id`, a person's own into the fact `into_id`; merged, into the
    proposal, which is that of the entry `into_id` or waited before; known, it is the fact `into_id`; dropped, a person
    declined it before, or it says nothing. What became of a proposal, it tells itself.
    """

    app_privileges = ("SELECT", "INSERT", "UPDATE", "DELETE")

    class State(models.TextChoices):
        HOT = "hot"
        PROMOTED = "promoted"
        MERGED = "merged"
        KNOWN = "known"
        DROPPED = "dropped"

    session_id = models.CharField(max_length=200, blank=True)
    domain = models.CharField(max_length=200)
    topic = models.CharField(max_length=200, blank=True)
    text = models.TextField()
    memory_type = models.CharField(max_length=30)
    recorded_at = models.DateTimeField()
    state = models.CharField(max_length=10, choices=State.choices, default=State.HOT)
    proposal_id = models.UUIDField(null=True)
    into_id = models.UUIDField(null=True)
    decided_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "hot_entries"
        constraints: ClassVar = [
            models.CheckConstraint(condition=_at_most(LONGEST_ENTRY), name="hot_entries_length"),
            models.CheckConstraint(
                condition=models.Q(state__in=["hot", "promoted", "merged", "known", "dropped"]),
                name="hot_entries_state",
            ),
            models.CheckConstraint(condition=models.Q(memory_type__in=_REMEMBERED), name="hot_entries_memory_type"),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["scope_ref", "owner_ref", "agent", "state", "recorded_at"], name="hot_entries_recorded"
            )
        ]

    def __str__(self) -> str:
        return f"{self.domain}: {self.state}"
