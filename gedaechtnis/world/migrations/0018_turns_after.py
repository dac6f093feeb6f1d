from __future__ import annotations

from django.db import migrations

from gedaechtnis.scoping.operations import RunSQLFile


class Migration(migrations.Migration):
    dependencies = [("world", "0017_follow_in_order")]
    operations = [RunSQLFile(__file__, "0018_turns_after")]
