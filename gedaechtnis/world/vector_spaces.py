"""Which models' vectors are kept. The same for all scopes, and no memory."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q


class VectorSpace(models.Model):
    """The vectors of one embedding model (`name`): search looks into the active one, the others are being made.

    `address` is how the model is reached, without its key.
    """

    name = models.CharField(primary_key=True, max_length=200)
    address = models.CharField(max_length=500)
    dimensions = models.IntegerField()
    is_active = models.BooleanField(default=False)
    made_at = models.DateTimeField()

    class Meta:
        db_table = "vector_spaces"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["is_active"], condition=Q(is_active=True), name="vector_spaces_one_active")
        ]

    def __str__(self) -> str:
        return self.name
