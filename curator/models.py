"""What the curator keeps: how far it has read, and what it decided and why."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from gedaechtnis.scoping.models import ScopedModel


class CuratorState(ScopedModel):
    """How far a chat has been read: `watermark` is the `seq` of the last message taken in."""

    chat_id = models.UUIDField()
    watermark = models.BigIntegerField(default=0)
    pending_turns = models.IntegerField(default=0)

    class Meta:
        db_table = "curator_states"
        constraints: ClassVar = [models.UniqueConstraint(fields=["scope_ref", "chat_id"], name="curator_states_chat")]

    def __str__(self) -> str:
        return f"{self.chat_id} @ {self.watermark}"


class CuratorRun(ScopedModel):
    """One decision about a window of messages, with its reason."""

    class Outcome(models.TextChoices):
        SKIPPED = "skipped"
        COMMITTED = "committed"

    chat_id = models.UUIDField()
    run_id = models.CharField(max_length=200)
    first_seq = models.BigIntegerField()
    last_seq = models.BigIntegerField()
    outcome = models.CharField(max_length=10, choices=Outcome.choices)
    skipped_because = models.CharField(max_length=50, blank=True)
    operations = models.JSONField(default=list)
    ran_at = models.DateTimeField()

    class Meta:
        db_table = "curator_runs"
        constraints: ClassVar = [models.UniqueConstraint(fields=["scope_ref", "run_id"], name="curator_runs_once")]
        indexes: ClassVar = [models.Index(fields=["scope_ref", "chat_id", "last_seq"], name="curator_runs_chat")]

    def __str__(self) -> str:
        return self.run_id
