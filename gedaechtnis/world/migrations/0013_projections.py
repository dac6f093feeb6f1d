from __future__ import annotations

from typing import Any

import django.contrib.postgres.fields
import pgvector.django.halfvec
from django.db import migrations, models

import gedaechtnis.common.ids
from gedaechtnis.scoping.operations import RunSQLFile, ScopedTable

_ID: tuple[str, models.Field[Any, Any]] = (
    "id",
    models.UUIDField(default=gedaechtnis.common.ids.uuid7, editable=False, primary_key=True, serialize=False),
)
_SCOPED: list[tuple[str, models.Field[Any, Any]]] = [
    ("scope_ref", models.TextField()),
    ("org_id", models.UUIDField(null=True)),
    ("classification", models.SmallIntegerField(default=1)),
]
_SOURCES = [
    ("entity", "Entity"),
    ("entity_live", "Entity Live"),
    ("fact", "Fact"),
    ("event", "Event"),
    ("episode", "Episode"),
    ("summary", "Summary"),
    ("rollup", "Rollup"),
]
_TABLES = (
    "memory_projections",
    "projection_terms",
    "lexeme_counts",
    "projection_counts",
    "projection_vectors",
    "projection_marks",
)


class Migration(migrations.Migration):
    dependencies = [
        ("world", "0012_imports"),
    ]

    operations = [
        migrations.CreateModel(
            name="LexemeCount",
            fields=[
                _ID,
                *_SCOPED,
                ("lexeme", models.CharField(db_collation="C", max_length=100)),
                ("documents", models.IntegerField()),
            ],
            options={
                "db_table": "lexeme_counts",
            },
        ),
        migrations.CreateModel(
            name="Projection",
            fields=[
                _ID,
                *_SCOPED,
                ("source_kind", models.CharField(choices=_SOURCES, max_length=12)),
                ("source_id", models.UUIDField()),
                ("part", models.IntegerField(default=0)),
                ("ref", models.CharField(max_length=500)),
                ("kind", models.CharField(blank=True, max_length=100)),
                ("predicate", models.CharField(blank=True, max_length=200)),
                ("memory_type", models.CharField(blank=True, max_length=30)),
                (
                    "entity_ids",
                    django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), default=list, size=None),
                ),
                ("speaker", models.CharField(blank=True, max_length=200)),
                ("role", models.CharField(blank=True, max_length=10)),
                ("chat_id", models.UUIDField(null=True)),
                ("session_id", models.TextField(blank=True)),
                ("position", models.BigIntegerField(null=True)),
                ("external_id", models.CharField(max_length=500, null=True)),
                ("text", models.TextField()),
                ("occurred_at", models.DateTimeField(null=True)),
                ("valid_from", models.DateTimeField(null=True)),
                ("valid_to", models.DateTimeField(null=True)),
                ("recorded_at", models.DateTimeField()),
                ("superseded_at", models.DateTimeField(null=True)),
                ("touched_at", models.DateTimeField()),
                ("recall_count", models.IntegerField(default=0)),
                (
                    "lexemes",
                    django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, size=None),
                ),
                (
                    "counts",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.SmallIntegerField(), default=list, size=None
                    ),
                ),
                ("length", models.IntegerField(default=0)),
                ("indexed_classification", models.SmallIntegerField(null=True)),
                ("terms_pending", models.BooleanField(default=True)),
                ("vector_pending", models.BooleanField(default=True)),
                ("vector_attempts", models.SmallIntegerField(default=0)),
            ],
            options={
                "db_table": "memory_projections",
            },
        ),
        migrations.CreateModel(
            name="ProjectionCount",
            fields=[
                _ID,
                *_SCOPED,
                ("source_kind", models.CharField(choices=_SOURCES, max_length=12)),
                ("projections", models.IntegerField()),
                ("length", models.BigIntegerField()),
            ],
            options={
                "db_table": "projection_counts",
            },
        ),
        migrations.CreateModel(
            name="ProjectionMark",
            fields=[
                _ID,
                *_SCOPED,
                ("source", models.CharField(max_length=30)),
                ("tick", models.DateTimeField()),
                ("after_id", models.UUIDField()),
            ],
            options={
                "db_table": "projection_marks",
            },
        ),
        migrations.CreateModel(
            name="ProjectionTerm",
            fields=[
                *_SCOPED,
                ("id", models.UUIDField()),
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "id", "lexeme", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("lexeme", models.CharField(db_collation="C", max_length=100)),
                ("is_current", models.BooleanField()),
                ("weight", models.SmallIntegerField()),
            ],
            options={
                "db_table": "projection_terms",
            },
        ),
        migrations.CreateModel(
            name="ProjectionVector",
            fields=[
                *_SCOPED,
                ("id", models.UUIDField()),
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "id", "model", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("model", models.CharField(max_length=200)),
                ("vector", pgvector.django.halfvec.HalfVectorField()),
            ],
            options={
                "db_table": "projection_vectors",
            },
        ),
        migrations.AddIndex(
            model_name="entity",
            index=models.Index(fields=["scope_ref", "recorded_at"], name="entities_recorded"),
        ),
        migrations.AddIndex(
            model_name="entityalias",
            index=models.Index(fields=["scope_ref", "recorded_at"], name="entity_aliases_recorded"),
        ),
        migrations.AddIndex(
            model_name="entityalias",
            index=models.Index(
                condition=models.Q(("superseded_at__isnull", False)),
                fields=["scope_ref", "superseded_at"],
                name="entity_aliases_superseded",
            ),
        ),
        migrations.AddIndex(
            model_name="fact",
            index=models.Index(
                condition=models.Q(("superseded_at__isnull", False)),
                fields=["scope_ref", "superseded_at"],
                name="facts_superseded",
            ),
        ),
        migrations.AddConstraint(
            model_name="lexemecount",
            constraint=models.UniqueConstraint(
                fields=("scope_ref", "lexeme", "classification"), name="lexeme_counts_once"
            ),
        ),
        migrations.AddIndex(
            model_name="projection",
            index=models.Index(
                condition=models.Q(("terms_pending", True)), fields=["scope_ref", "id"], name="memory_projections_terms"
            ),
        ),
        migrations.AddIndex(
            model_name="projection",
            index=models.Index(
                condition=models.Q(("vector_pending", True)),
                fields=["scope_ref", "id"],
                name="memory_projections_vectors",
            ),
        ),
        migrations.AddIndex(
            model_name="projection",
            index=models.Index(
                condition=models.Q(("position__isnull", False)),
                fields=["scope_ref", "session_id", "position"],
                name="memory_projections_session",
            ),
        ),
        migrations.AddIndex(
            model_name="projection",
            index=models.Index(
                condition=models.Q(("occurred_at__isnull", False)),
                fields=["scope_ref", "occurred_at"],
                name="memory_projections_occurred",
            ),
        ),
        migrations.AddIndex(
            model_name="projection",
            index=models.Index(
                condition=models.Q(("chat_id__isnull", False)), fields=["chat_id"], name="memory_projections_chat"
            ),
        ),
        migrations.AddConstraint(
            model_name="projection",
            constraint=models.UniqueConstraint(
                fields=("scope_ref", "source_kind", "source_id", "part"), name="memory_projections_source"
            ),
        ),
        migrations.AddConstraint(
            model_name="projectioncount",
            constraint=models.UniqueConstraint(
                fields=("scope_ref", "source_kind", "classification"), name="projection_counts_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="projectionmark",
            constraint=models.UniqueConstraint(fields=("scope_ref", "source"), name="projection_marks_once"),
        ),
        migrations.AddIndex(
            model_name="projectionterm",
            index=models.Index(
                fields=["scope_ref", "lexeme", "is_current", "-weight", "id"],
                include=("org_id", "classification"),
                name="projection_terms_search",
            ),
        ),
        migrations.AddIndex(
            model_name="projectionvector",
            index=models.Index(fields=["scope_ref", "model"], name="projection_vectors_model"),
        ),
        *[ScopedTable(table) for table in _TABLES],
        RunSQLFile(__file__, "0013_projections"),
    ]
