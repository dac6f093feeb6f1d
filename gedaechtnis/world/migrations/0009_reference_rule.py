from __future__ import annotations

from django.db import migrations

from gedaechtnis.scoping.operations import RunSQLFile


class Migration(migrations.Migration):
    dependencies = [("world", "0008_merges")]
    operations = [RunSQLFile(__file__, "0009_reference_rule")]
