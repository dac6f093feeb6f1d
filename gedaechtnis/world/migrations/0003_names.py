from __future__ import annotations

from django.db import migrations

from gedaechtnis.scoping.operations import RunSQLFile


class Migration(migrations.Migration):
    dependencies = [("world", "0002_rules")]
    operations = [
        migrations.RemoveIndex(model_name="entity", name="entities_name_trgm"),
        RunSQLFile(__file__, "0003_names"),
    ]
