"""Rows on their way in: what an import has received and not written yet. No memory, so no export holds them."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from gedaechtnis.scoping.models import ScopedModel


class Import(ScopedModel):
    """An export that is being written into a new scope, piece by piece (`memory/transfer/archives.py`).

    `outside` are entities that its rows name and that are not in it; `left_out` counts the rows that could not be kept
    because of them.
    """

    class State(models.TextChoices):
        RUNNING = "running"
        DONE = "done"
        REFUSED = "refused"

    exported = False

    state = models.CharField(max_length=10, choices=State.choices, default=State.RUNNING)
    source_ref = models.TextField()
    keeps_ids = models.BooleanField()
    tick = models.DateTimeField()
    outside = models.JSONField(default=list)
    rows = models.BigIntegerField()
    rows_done = models.BigIntegerField(default=0)
    left_out = models.JSONField(default=dict)
    problem = models.TextField(blank=True)
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "imports"

    def __str__(self) -> str:
        return f"{self.source_ref} {self.rows_done}/{self.rows}"


class ImportPiece(ScopedModel):
    """Rows of one table that are not written yet. It goes in the transaction that writes them."""

    app_privileges = ("SELECT", "INSERT", "DELETE")
    exported = False

    import_id = models.UUIDField()
    position = models.BigIntegerField()
    table = models.CharField(max_length=63)
    rows = models.JSONField()

    class Meta:
        db_table = "import_pieces"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["scope_ref", "import_id", "position"], name="import_pieces_order")
        ]

    def __str__(self) -> str:
        return f"{self.table} {self.position}"
