from __future__ import annotations

from django.db import migrations

from gedaechtnis.scoping.operations import RunSQLFile


class Migration(migrations.Migration):
    dependencies = [("world", "0014_vector_spaces")]
    operations = [RunSQLFile(__file__, "0015_alike")]
