from __future__ import annotations

from django.db import migrations

from gedaechtnis.scoping.operations import RunSQLFile


class Migration(migrations.Migration):
    dependencies = [("chat", "0002_policies"), ("world", "0013_projections")]
    operations = [RunSQLFile(__file__, "0003_projected_messages")]
