from __future__ import annotations

from typing import Any

from django.db import migrations, models

import gedaechtnis.common.ids
from gedaechtnis.scoping.operations import RunSQLFile, ScopedTable

_SCOPED: list[tuple[str, models.Field[Any, Any]]] = [
    (
        "id",
        models.UUIDField(default=gedaechtnis.common.ids.uuid7, editable=False, primary_key=True, serialize=False),
    ),
    ("scope_ref", models.TextField()),
    ("org_id", models.UUIDField(null=True)),
    ("classification", models.SmallIntegerField(default=1)),
]


class Migration(migrations.Migration):
    dependencies = [("world", "0011_vocabulary_in_use"), ("scoping", "0004_importing")]

    operations = [
        migrations.CreateModel(
            name="Import",
            fields=[
                *_SCOPED,
                (
                    "state",
                    models.CharField(
                        choices=[("running", "Running"), ("done", "Done"), ("refused", "Refused")],
                        default="running",
                        max_length=10,
                    ),
                ),
                ("source_ref", models.TextField()),
                ("keeps_ids", models.BooleanField()),
                ("tick", models.DateTimeField()),
                ("outside", models.JSONField(default=list)),
                ("rows", models.BigIntegerField()),
                ("rows_done", models.BigIntegerField(default=0)),
                ("left_out", models.JSONField(default=dict)),
                ("problem", models.TextField(blank=True)),
                ("started_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(null=True)),
            ],
            options={"db_table": "imports"},
        ),
        migrations.CreateModel(
            name="ImportPiece",
            fields=[
                *_SCOPED,
                ("import_id", models.UUIDField()),
                ("position", models.BigIntegerField()),
                ("table", models.CharField(max_length=63)),
                ("rows", models.JSONField()),
            ],
            options={
                "db_table": "import_pieces",
                "constraints": [
                    models.UniqueConstraint(fields=["scope_ref", "import_id", "position"], name="import_pieces_order")
                ],
            },
        ),
        *[ScopedTable(table) for table in ("imports", "import_pieces")],
        RunSQLFile(__file__, "0012_imports"),
    ]
