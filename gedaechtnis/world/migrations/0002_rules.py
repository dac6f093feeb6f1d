from __future__ import annotations

from django.db import migrations

from gedaechtnis.scoping.operations import RunSQLFile, SameScope, ScopedTable, ScopedTarget

_TABLES = [
    "entities",
    "entity_aliases",
    "facts",
    "fact_evidence",
    "operations",
    "proposals",
    "suppressions",
    "world_events",
]


class Migration(migrations.Migration):
    dependencies = [("world", "0001_tables"), ("scoping", "0002_policies")]
    operations = [
        RunSQLFile(__file__, "0002_rules"),
        *[ScopedTable(table) for table in _TABLES],
        ScopedTarget("facts"),
        SameScope("fact_evidence", "fact_id", "facts"),
    ]
