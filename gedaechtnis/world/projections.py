"""What search reads: texts made from memory, and the indexes over them. Made anew from it, so no export holds them.

A projection finds, it never decides: what it found is read from the graph before anybody sees it. Counts are kept for
each classification apart, so that the policies give every reader the statistics of what they may see.
"""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from pgvector.django import HalfVectorField

from gedaechtnis.scoping.models import ScopedModel

MAX_LEXEME = 100
"""Longest word that is indexed, in characters: nobody searches for a longer one, and an index entry has its limit."""


class IndexModel(ScopedModel):
    """Rows that the application makes, changes and removes as it likes."""

    app_privileges: ClassVar[tuple[str, ...]] = ("SELECT", "INSERT", "UPDATE", "DELETE")
    exported: ClassVar[bool] = False

    class Meta:
        abstract = True


class Projection(IndexModel):
    """One text to be found, of one source; a long one is several `part`s.

    `text`, times and names are copies. `entity_ids` are the entities it is about, the first the subject.
    `lexemes` with `counts` and `length` (their sum) are what is counted and posted, under `indexed_classification`;
    null where nothing is. Neighbours of an episode have the same `session_id` and a near `position`.
    """

    class Source(models.TextChoices):
        ENTITY = "entity"
        ENTITY_LIVE = "entity_live"
        FACT = "fact"
        EVENT = "event"
        EPISODE = "episode"
        SUMMARY = "summary"
        ROLLUP = "rollup"

    source_kind = models.CharField(max_length=12, choices=Source.choices)
    source_id = models.UUIDField()
    part = models.IntegerField(default=0)
    ref = models.CharField(max_length=500)
    kind = models.CharField(max_length=100, blank=True)
    predicate = models.CharField(max_length=200, blank=True)
    memory_type = models.CharField(max_length=30, blank=True)
    entity_ids = ArrayField(models.UUIDField(), default=list)
    speaker = models.CharField(max_length=200, blank=True)
    role = models.CharField(max_length=10, blank=True)
    chat_id = models.UUIDField(null=True)
    session_id = models.TextField(blank=True)
    position = models.BigIntegerField(null=True)
    external_id = models.CharField(max_length=500, null=True)  # noqa: DJ001 (null = has none)
    text = models.TextField()
    occurred_at = models.DateTimeField(null=True)
    valid_from = models.DateTimeField(null=True)
    valid_to = models.DateTimeField(null=True)
    recorded_at = models.DateTimeField()
    superseded_at = models.DateTimeField(null=True)
    touched_at = models.DateTimeField()
    recall_count = models.IntegerField(default=0)
    lexemes = ArrayField(models.TextField(), default=list)
    counts = ArrayField(models.SmallIntegerField(), default=list)
    length = models.IntegerField(default=0)
    indexed_classification = models.SmallIntegerField(null=True)
    terms_pending = models.BooleanField(default=True)
    vector_pending = models.BooleanField(default=True)
    vector_attempts = models.SmallIntegerField(default=0)

    class Meta:
        db_table = "memory_projections"
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["scope_ref", "source_kind", "source_id", "part"], name="memory_projections_source"
            )
        ]
        indexes: ClassVar = [
            models.Index(fields=["scope_ref", "id"], condition=Q(terms_pending=True), name="memory_projections_terms"),
            models.Index(
                fields=["scope_ref", "id"], condition=Q(vector_pending=True), name="memory_projections_vectors"
            ),
            models.Index(
                fields=["scope_ref", "session_id", "position"],
                condition=Q(position__isnull=False),
                name="memory_projections_session",
            ),
            models.Index(
                fields=["scope_ref", "occurred_at"],
                condition=Q(occurred_at__isnull=False),
                name="memory_projections_occurred",
            ),
            models.Index(
                fields=["scope_ref", "valid_from"], condition=Q(source_kind="fact"), name="memory_projections_began"
            ),
            models.Index(fields=["chat_id"], condition=Q(chat_id__isnull=False), name="memory_projections_chat"),
            models.Index(
                fields=["scope_ref", "speaker"], condition=Q(source_kind="episode"), name="memory_projections_speaker"
            ),
        ]

    def __str__(self) -> str:
        return self.ref


class ProjectionTerm(IndexModel):
    """A posting: a projection (`id`) holds a word. `weight` is its part of a BM25 score, without the word's rarity.

    `is_current`: it is believed today, as far as that is indexed.
    """

    id = models.UUIDField()
    pk = models.CompositePrimaryKey("id", "lexeme")
    lexeme = models.CharField(max_length=MAX_LEXEME, db_collation="C")
    is_current = models.BooleanField()
    weight = models.SmallIntegerField()

    class Meta:
        db_table = "projection_terms"
        indexes: ClassVar = [
            # Holds what the policies ask, so that a search reads nothing but the index.
            models.Index(
                fields=["scope_ref", "lexeme", "is_current", "-weight", "id"],
                include=["org_id", "classification"],
                name="projection_terms_search",
            )
        ]

    def __str__(self) -> str:
        return self.lexeme


class LexemeCount(IndexModel):
    """How many projections of a scope and classification hold a word; without any the row goes.

    A generated column `reversed` finds the words that end alike (`sql/0013_projections.up.sql`).
    """

    lexeme = models.CharField(max_length=MAX_LEXEME, db_collation="C")
    documents = models.IntegerField()

    class Meta:
        db_table = "lexeme_counts"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["scope_ref", "lexeme", "classification"], name="lexeme_counts_once")
        ]

    def __str__(self) -> str:
        return f"{self.lexeme} {self.documents}"


class ProjectionCount(IndexModel):
    """How many projections of a kind a scope and classification have in the index, and how many words."""

    source_kind = models.CharField(max_length=12, choices=Projection.Source.choices)
    projections = models.IntegerField()
    length = models.BigIntegerField()

    class Meta:
        db_table = "projection_counts"
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["scope_ref", "source_kind", "classification"], name="projection_counts_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.source_kind} {self.projections}"


class ProjectionVector(IndexModel):
    """Where a model places a projection (`id`). Models differ in dimensions, so the column has none."""

    id = models.UUIDField()
    pk = models.CompositePrimaryKey("id", "model")
    model = models.CharField(max_length=200)
    vector = HalfVectorField()

    class Meta:
        db_table = "projection_vectors"
        indexes: ClassVar = [models.Index(fields=["scope_ref", "model"], name="projection_vectors_model")]

    def __str__(self) -> str:
        return f"{self.id} {self.model}"


class FactUsage(IndexModel):
    """How a statement (`fact_id` is its origin) is used: how often it was stated and told, and when last.

    It orders answers and never decides one. Stating touches, telling does not. Of what was stated once and never told
    there is no row.
    """

    fact_id = models.UUIDField()
    mentions = models.IntegerField(default=1)
    recalls = models.IntegerField(default=0)
    last_touched_at = models.DateTimeField()
    last_recalled_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "fact_usage"
        constraints: ClassVar = [models.UniqueConstraint(fields=["scope_ref", "fact_id"], name="fact_usage_once")]

    def __str__(self) -> str:
        return f"{self.fact_id} {self.mentions}/{self.recalls}"


class ProjectionMark(IndexModel):
    """How far a scope's rows of one source have become projections: past all of `tick` up to `after_id`."""

    source = models.CharField(max_length=30)
    tick = models.DateTimeField()
    after_id = models.UUIDField()

    class Meta:
        db_table = "projection_marks"
        constraints: ClassVar = [models.UniqueConstraint(fields=["scope_ref", "source"], name="projection_marks_once")]

    def __str__(self) -> str:
        return f"{self.source} {self.tick}"
