from __future__ import annotations

from django.db import migrations

from gedaechtnis.scoping.operations import RunSQLFile


class Migration(migrations.Migration):
    dependencies = [
        ("world", "0010_choices"),
        ("registry", "0002_classification"),
    ]

    operations = [
        RunSQLFile(__file__, "0011_vocabulary_in_use"),
    ]
