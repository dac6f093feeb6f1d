from __future__ import annotations

from django.db import migrations

from gedaechtnis.scoping.operations import OwnedTable, ScopedTable

_OWNED = ("working_memories", "observations", "hot_entries")


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0001_tables"), ("scoping", "0005_erase_owned")]
    operations = [
        *[ScopedTable(table) for table in ("domain_grants", *_OWNED)],
        *[OwnedTable(table) for table in _OWNED],
    ]
