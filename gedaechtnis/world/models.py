"""Scoped tables of the graph. Rows change only through `gedaechtnis.memory.services`.

Instants are UTC; intervals half-open. `recorded_at` and `superseded_at` are ticks of the scope's
clock. Rules that one row cannot express live in `sql/` (exclusion, immutability, references).
"""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from gedaechtnis.common.instants import Precision
from gedaechtnis.scoping.models import ScopedModel
from gedaechtnis.world.projections import FactUsage as FactUsage
from gedaechtnis.world.projections import LexemeCount as LexemeCount
from gedaechtnis.world.projections import Projection as Projection
from gedaechtnis.world.projections import ProjectionCount as ProjectionCount
from gedaechtnis.world.projections import ProjectionMark as ProjectionMark
from gedaechtnis.world.projections import ProjectionTerm as ProjectionTerm
from gedaechtnis.world.projections import ProjectionVector as ProjectionVector
from gedaechtnis.world.querysets import FactQuerySet
from gedaechtnis.world.staging import Import as Import
from gedaechtnis.world.staging import ImportPiece as ImportPiece
from gedaechtnis.world.vector_spaces import VectorSpace as VectorSpace

PRECISIONS = [(precision.value, precision.value) for precision in Precision]


class Entity(ScopedModel):
    """The identity of one thing in the world. Never hard-deleted.

    `canonical_name` caches the believed `name` fact. Names are found by a generated column that no
    code writes (`sql/0003_names.up.sql`, `sql/0004_reads.up.sql`).
    """

    class Status(models.TextChoices):
        ACTIVE = "active"
        ARCHIVED = "archived"
        MERGED = "merged"
        DEPRECATED = "deprecated"

    kind = models.CharField(max_length=100)
    slug = models.CharField(max_length=100)
    canonical_name = models.CharField(max_length=500)
    name_key = models.CharField(max_length=500)
    description = models.TextField(blank=True)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.ACTIVE)
    merged_into_id = models.UUIDField(null=True)
    is_self = models.BooleanField(default=False)
    source_entry_id = models.UUIDField(null=True)
    external_id = models.CharField(max_length=500, null=True)  # noqa: DJ001 (null = has none, and is not compared)
    backing_ref = models.JSONField(null=True)
    metadata = models.JSONField(default=dict)
    review_at = models.DateTimeField(null=True)
    pinned = models.BooleanField(default=False)
    recorded_at = models.DateTimeField()
    acted_by = models.TextField()

    class Meta:
        db_table = "entities"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["scope_ref", "kind", "slug"], name="entities_slug"),
            models.UniqueConstraint(fields=["scope_ref"], condition=Q(is_self=True), name="entities_one_self"),
            models.UniqueConstraint(
                fields=["scope_ref", "source_entry_id", "kind", "external_id"],
                condition=Q(external_id__isnull=False),
                nulls_distinct=False,
                name="entities_external_id",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["scope_ref", "name_key", "id"], name="entities_by_name"),
            models.Index(fields=["scope_ref", "kind", "name_key", "id"], name="entities_by_kind"),
            models.Index(
                fields=["merged_into_id"], condition=Q(merged_into_id__isnull=False), name="entities_merged_into"
            ),
            models.Index(fields=["scope_ref", "recorded_at"], name="entities_recorded"),
        ]

    def __str__(self) -> str:
        return self.ref

    @property
    def ref(self) -> str:
        """`kind:slug`, the readable reference."""
        return f"{self.kind}:{self.slug}"


class EntityAlias(ScopedModel):
    """Another name, bitemporal: it may name one entity until May and another after."""

    entity = models.ForeignKey(
        Entity, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="aliases"
    )
    alias = models.CharField(max_length=500)
    key = models.CharField(max_length=500)
    namespace = models.CharField(max_length=100, default="name")
    valid_from = models.DateTimeField()
    valid_to = models.DateTimeField(null=True)
    recorded_at = models.DateTimeField()
    superseded_at = models.DateTimeField(null=True)
    source = models.CharField(max_length=30)
    rank = models.SmallIntegerField()
    acted_by = models.TextField()

    class Meta:
        db_table = "entity_aliases"
        indexes: ClassVar = [
            models.Index(fields=["scope_ref", "namespace", "key"], name="entity_aliases_key"),
            models.Index(fields=["entity"], name="entity_aliases_entity"),
            models.Index(fields=["scope_ref", "recorded_at"], name="entity_aliases_recorded"),
            models.Index(
                fields=["scope_ref", "superseded_at"],
                condition=Q(superseded_at__isnull=False),
                name="entity_aliases_superseded",
            ),
        ]

    def __str__(self) -> str:
        return self.alias


class Fact(ScopedModel):
    """One belief row: valid over `[valid_from, valid_to)`, believed over `[recorded_at, superseded_at)`.

    After INSERT only the closing columns change, once (`sql/0002_rules.up.sql`).
    """

    subject = models.ForeignKey(
        Entity, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="facts"
    )
    predicate = models.CharField(max_length=200)
    polarity = models.BooleanField(default=True)
    object_value = models.JSONField(null=True)
    object_entity = models.ForeignKey(
        Entity,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        db_index=False,
        null=True,
        related_name="inbound_facts",
    )
    object_key = models.UUIDField()
    slot = models.UUIDField()
    applies_to = models.ForeignKey(
        Entity, on_delete=models.DO_NOTHING, db_constraint=False, null=True, related_name="applicable_facts"
    )
    valid_from = models.DateTimeField()
    valid_to = models.DateTimeField(null=True)
    valid_from_precision = models.CharField(max_length=8, choices=PRECISIONS, default=Precision.INSTANT)
    valid_to_precision = models.CharField(max_length=8, choices=PRECISIONS, default=Precision.INSTANT)
    valid_from_stated = models.BooleanField(default=False)
    valid_to_stated = models.BooleanField(default=False)
    recorded_at = models.DateTimeField()
    superseded_at = models.DateTimeField(null=True)
    observed_at = models.DateTimeField(null=True)
    made_at = models.DateTimeField()
    closed_reason = models.CharField(max_length=10, null=True)  # noqa: DJ001 (null until closed)
    closed_by_fact_id = models.UUIDField(null=True)
    reason = models.TextField(null=True)  # noqa: DJ001 (null until closed)
    supersedes_fact_id = models.UUIDField(null=True)
    origin_fact_id = models.UUIDField()
    mirror_of = models.UUIDField(null=True)
    statement = models.TextField()
    confidence = models.FloatField(default=1.0)
    source = models.CharField(max_length=30)
    source_trust_tier = models.CharField(max_length=10, default="trusted")
    memory_type = models.CharField(max_length=30)
    rank = models.SmallIntegerField()
    acted_by = models.TextField()
    domain = models.CharField(max_length=200, blank=True)
    topic = models.CharField(max_length=200, blank=True)
    run_id = models.CharField(max_length=200, null=True)  # noqa: DJ001 (null = outside a run)
    event_id = models.UUIDField()

    objects = FactQuerySet.as_manager()

    class Meta:
        db_table = "facts"
        indexes: ClassVar = [
            models.Index(fields=["subject", "predicate", "valid_from"], name="facts_subject"),
            models.Index(
                fields=["scope_ref", "subject", "predicate", "object_key"],
                condition=Q(superseded_at__isnull=True),
                name="facts_believed",
            ),
            models.Index(fields=["object_entity", "predicate"], name="facts_object"),
            models.Index(fields=["scope_ref", "predicate", "object_key"], name="facts_value"),
            models.Index(fields=["scope_ref", "recorded_at"], name="facts_recorded"),
            models.Index(
                fields=["scope_ref", "superseded_at"], condition=Q(superseded_at__isnull=False), name="facts_superseded"
            ),
            models.Index(fields=["origin_fact_id"], name="facts_origin"),
            models.Index(
                fields=["scope_ref", "subject", "topic"],
                condition=Q(superseded_at__isnull=True, predicate="statement"),
                name="facts_statements",
            ),
        ]

    def __str__(self) -> str:
        return self.statement


class FactEvidence(ScopedModel):
    """What a statement rests on; append-only. `fact_id` is the origin of the pieces it supports."""

    app_privileges = ("SELECT", "INSERT")

    fact_id = models.UUIDField()
    recorded_at = models.DateTimeField()
    kind = models.CharField(max_length=30)
    text = models.TextField(blank=True)
    ref = models.CharField(max_length=500, null=True)  # noqa: DJ001 (null = no reference)
    source = models.CharField(max_length=30)
    rank = models.SmallIntegerField()
    weight = models.FloatField(default=1.0)
    acted_by = models.TextField()

    class Meta:
        db_table = "fact_evidence"
        indexes: ClassVar = [
            models.Index(fields=["fact_id", "recorded_at"], name="fact_evidence_fact"),
            models.Index(fields=["scope_ref", "ref"], condition=Q(ref__isnull=False), name="fact_evidence_ref"),
            models.Index(fields=["scope_ref", "recorded_at", "id"], name="fact_evidence_recorded"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.ref or ''}".strip()


class EntityMerge(ScopedModel):
    """In a scope, one entity was taken for another over `[tick_from, tick_to)` of system time; null = to this day."""

    source_id = models.UUIDField()
    target_id = models.UUIDField()
    tick_from = models.DateTimeField()
    tick_to = models.DateTimeField(null=True)
    event_id = models.UUIDField()
    undone_by_event_id = models.UUIDField(null=True)
    acted_by = models.TextField()

    class Meta:
        db_table = "entity_merges"
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["scope_ref", "source_id"], condition=Q(tick_to__isnull=True), name="entity_merges_once"
            )
        ]
        indexes: ClassVar = [models.Index(fields=["target_id"], name="entity_merges_target")]

    def __str__(self) -> str:
        return f"{self.source_id} → {self.target_id}"


class ConflictRecord(ScopedModel):
    """`fact_id` was written although `other_fact_id` said otherwise of the same instants.

    The settled columns change once, when a person decides.
    """

    app_privileges = ("SELECT", "INSERT", "UPDATE")

    kind = models.CharField(max_length=20)
    fact_id = models.UUIDField()
    other_fact_id = models.UUIDField()
    recorded_at = models.DateTimeField()
    event_id = models.UUIDField()
    settled_at = models.DateTimeField(null=True)
    settled_as = models.CharField(max_length=4, blank=True)
    settled_by = models.TextField(blank=True)

    class Meta:
        db_table = "conflicts"
        indexes: ClassVar = [models.Index(fields=["scope_ref", "recorded_at"], name="conflicts_recorded")]

    def __str__(self) -> str:
        return f"{self.fact_id} ≠ {self.other_fact_id}"


class OperationRecord(ScopedModel):
    """What became of each operation: asked again with the same body, the stored result is the answer."""

    app_privileges = ("SELECT", "INSERT")

    principal = models.TextField()
    run_id = models.CharField(max_length=200)
    op_index = models.IntegerField()
    body_hash = models.UUIDField()
    tick = models.DateTimeField()
    result = models.JSONField()

    class Meta:
        db_table = "operations"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["scope_ref", "principal", "run_id", "op_index"], name="operations_once")
        ]

    def __str__(self) -> str:
        return f"{self.run_id}#{self.op_index}"


class Proposal(ScopedModel):
    """An operation that waits for a person. Never among facts, so it can never be read as one.

    `choices` of a question: the field of the operation that is not clear, the name there, and who could be meant.
    `following`: operations that are carried out or declined with this one, by the same word.
    `against`: origins of believed statements that it contradicts and does not replace.
    """

    class State(models.TextChoices):
        OPEN = "open"
        ACCEPTED = "accepted"
        REJECTED = "rejected"

    kind = models.CharField(max_length=20)
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    operation = models.JSONField()
    following = models.JSONField(default=list)
    entities = models.JSONField(default=dict)
    statement = models.TextField()
    why = models.CharField(max_length=30)
    quote = models.TextField(blank=True)
    built_on = models.JSONField(default=list)
    default_from = models.DateTimeField()
    present = models.TextField(blank=True)
    choices = models.JSONField(default=dict)
    against = models.JSONField(default=list)
    proposed_by = models.TextField()
    run_id = models.CharField(max_length=200)
    op_index = models.IntegerField()
    recorded_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True)
    decided_by = models.TextField(blank=True)
    decision_reason = models.TextField(blank=True)
    fact_id = models.UUIDField(null=True)

    class Meta:
        db_table = "proposals"
        indexes: ClassVar = [models.Index(fields=["scope_ref", "state", "recorded_at"], name="proposals_state")]

    def __str__(self) -> str:
        return self.statement


class Suppression(ScopedModel):
    """What a person declined, as a hash without text: it is not suggested again until it expires."""

    app_privileges = ("SELECT", "INSERT", "UPDATE", "DELETE")

    key = models.UUIDField()
    recorded_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "suppressions"
        constraints: ClassVar = [models.UniqueConstraint(fields=["scope_ref", "key"], name="suppressions_once")]

    def __str__(self) -> str:
        return str(self.key)


class WorldEvent(ScopedModel):
    """What happened, one per operation; append-only, partitioned by month (made in `sql/0002_rules.up.sql`).

    `payload` holds ids: what was written and closed; of grants what they say.
    """

    app_privileges = ("SELECT", "INSERT")

    event_type = models.CharField(max_length=200)
    occurred_at = models.DateTimeField()
    observed_at = models.DateTimeField(null=True)
    recorded_at = models.DateTimeField()
    source = models.CharField(max_length=30)
    source_trust_tier = models.CharField(max_length=10, default="trusted")
    acted_by = models.TextField()
    target_entity_id = models.UUIDField(null=True)
    caused_by_event_id = models.UUIDField(null=True)
    causation_kind = models.CharField(max_length=10, blank=True)
    correlation_id = models.CharField(max_length=200, blank=True)
    intent = models.TextField(blank=True)
    expected_effect = models.JSONField(null=True)
    goal_id = models.UUIDField(null=True)
    run_id = models.CharField(max_length=200, blank=True)
    chat_id = models.UUIDField(null=True)
    tool_call_id = models.CharField(max_length=200, blank=True)
    automation_id = models.UUIDField(null=True)
    payload = models.JSONField(default=dict)
    summary = models.TextField(blank=True)
    retention_class = models.CharField(max_length=20, default="permanent")

    class Meta:
        db_table = "world_events"
        managed = False

    def __str__(self) -> str:
        return f"{self.event_type} {self.pk}"
