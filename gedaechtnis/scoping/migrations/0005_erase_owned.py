from __future__ import annotations

from django.db import migrations

from gedaechtnis.scoping.operations import RunSQLFile


class Migration(migrations.Migration):
    dependencies = [("scoping", "0004_importing")]
    operations = [RunSQLFile(__file__, "0005_erase_owned")]
