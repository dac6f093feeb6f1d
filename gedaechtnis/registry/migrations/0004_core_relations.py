from __future__ import annotations

from django.db import migrations

from gedaechtnis.scoping.operations import RunSQLFile


class Migration(migrations.Migration):
    dependencies = [
        ("registry", "0003_words_of_fields"),
        ("scoping", "0001_tables"),
    ]

    operations = [
        RunSQLFile(__file__, "0004_core_relations"),
    ]
