from __future__ import annotations

from django.db import migrations, models

import gedaechtnis.common.ids
from gedaechtnis.scoping.operations import RunSQLFile, ScopedTable


class Migration(migrations.Migration):
    dependencies = [
        ("world", "0007_believed_rows_by_object"),
    ]

    operations = [
        migrations.CreateModel(
            name="ConflictRecord",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=gedaechtnis.common.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("scope_ref", models.TextField()),
                ("org_id", models.UUIDField(null=True)),
                ("classification", models.SmallIntegerField(default=1)),
                ("kind", models.CharField(max_length=20)),
                ("fact_id", models.UUIDField()),
                ("other_fact_id", models.UUIDField()),
                ("recorded_at", models.DateTimeField()),
                ("event_id", models.UUIDField()),
            ],
            options={
                "db_table": "conflicts",
            },
        ),
        migrations.CreateModel(
            name="EntityMerge",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=gedaechtnis.common.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("scope_ref", models.TextField()),
                ("org_id", models.UUIDField(null=True)),
                ("classification", models.SmallIntegerField(default=1)),
                ("source_id", models.UUIDField()),
                ("target_id", models.UUIDField()),
                ("tick_from", models.DateTimeField()),
                ("tick_to", models.DateTimeField(null=True)),
                ("event_id", models.UUIDField()),
                ("undone_by_event_id", models.UUIDField(null=True)),
                ("acted_by", models.TextField()),
            ],
            options={
                "db_table": "entity_merges",
            },
        ),
        migrations.AddIndex(
            model_name="entity",
            index=models.Index(
                condition=models.Q(("merged_into_id__isnull", False)),
                fields=["merged_into_id"],
                name="entities_merged_into",
            ),
        ),
        migrations.AddIndex(
            model_name="conflictrecord",
            index=models.Index(fields=["scope_ref", "recorded_at"], name="conflicts_recorded"),
        ),
        migrations.AddIndex(
            model_name="entitymerge",
            index=models.Index(fields=["target_id"], name="entity_merges_target"),
        ),
        migrations.AddConstraint(
            model_name="entitymerge",
            constraint=models.UniqueConstraint(
                condition=models.Q(("tick_to__isnull", True)),
                fields=("scope_ref", "source_id"),
                name="entity_merges_once",
            ),
        ),
        *[ScopedTable(table) for table in ("entity_merges", "conflicts")],
        RunSQLFile(__file__, "0008_merges"),
    ]
