"""The abstract base of every protected table, and the two content-free tables beside RLS."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from gedaechtnis.common.ids import uuid7

PUBLIC = 0
INTERNAL = 1
"""Default classification; above it stand 2 personal and 3 sensitive."""


class ScopedModel(models.Model):
    """A row that belongs to exactly one principal (`scope_ref`); see `ScopedTable` for its policies.

    `org_id` is derived: null for user and global rows, the group's org, or the org itself.
    `app_privileges` is what the application's role may do with the table at all. `hidden_when` is an SQL condition on
    rows that the policies show and that still repeat what they hide, for readers below full clearance. `exported` says
    whether its rows are memory, which goes along when a scope is taken elsewhere. `owned` says that each row belongs to
    one person in the scope, named by its `owner_ref`, and nobody else reads or writes it (`OwnedTable`); its `agent` is
    the role of that person's agent which keeps it.
    """

    app_privileges: ClassVar[tuple[str, ...]] = ("SELECT", "INSERT", "UPDATE")
    hidden_when: ClassVar[str] = ""
    exported: ClassVar[bool] = True
    owned: ClassVar[bool] = False

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    scope_ref = models.TextField()
    org_id = models.UUIDField(null=True)
    classification = models.SmallIntegerField(default=INTERNAL)

    class Meta:
        abstract = True


class ScopeClock(models.Model):
    """The logical clock of one scope. A write locks its row, so writes of a scope are serial.

    Only an open scope is written, and one being imported by the import alone. The row of an erased one stays, so that
    its reference is never used again.
    """

    class State(models.TextChoices):
        OPEN = "open"
        CLOSED = "closed"
        IMPORTING = "importing"
        ERASED = "erased"

    scope_ref = models.TextField(primary_key=True)
    org_id = models.UUIDField(null=True)
    tick = models.DateTimeField()
    revision = models.BigIntegerField(default=0)
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)

    class Meta:
        db_table = "scopes"

    def __str__(self) -> str:
        return self.scope_ref


class Work(models.Model):
    """Something to do later, written in the transaction that makes it necessary. Holds ids only."""

    id = models.BigAutoField(primary_key=True)
    kind = models.CharField(max_length=50)
    scope_ref = models.TextField()
    acting_sub = models.UUIDField(null=True)
    org_id = models.UUIDField(null=True)
    object_id = models.UUIDField(null=True)
    due_at = models.DateTimeField()
    seq = models.BigIntegerField(default=1)
    lease_until = models.DateTimeField(null=True)
    lease_token = models.UUIDField(null=True)
    attempts = models.IntegerField(default=0)
    dedupe_key = models.CharField(max_length=200)
    failed_at = models.DateTimeField(null=True)
    last_error = models.CharField(max_length=200, blank=True)

    class Meta:
        db_table = "work"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["kind", "scope_ref", "dedupe_key"], name="work_once_per_key")
        ]
        indexes: ClassVar = [
            models.Index(fields=["due_at"], condition=models.Q(failed_at=None), name="work_due"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} #{self.pk}"
