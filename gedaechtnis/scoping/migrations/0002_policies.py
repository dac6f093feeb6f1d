from __future__ import annotations

from django.db import migrations

from gedaechtnis.scoping.operations import RunSQLFile


class Migration(migrations.Migration):
    dependencies = [("scoping", "0001_tables"), ("identity", "0001_tables")]
    operations = [RunSQLFile(__file__, "0002_policies")]
