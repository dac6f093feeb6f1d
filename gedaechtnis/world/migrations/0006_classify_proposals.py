from __future__ import annotations

from django.db import migrations

from gedaechtnis.scoping.operations import RunSQLFile


class Migration(migrations.Migration):
    dependencies = [("world", "0005_classify")]
    operations = [RunSQLFile(__file__, "0006_classify_proposals")]
