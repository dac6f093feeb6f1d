from __future__ import annotations

from django.db import migrations

from gedaechtnis.scoping.operations import RunSQLFile


class Migration(migrations.Migration):
    dependencies = [("world", "0016_speakers")]
    operations = [RunSQLFile(__file__, "0017_follow_in_order")]
