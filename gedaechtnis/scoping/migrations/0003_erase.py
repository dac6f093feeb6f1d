from __future__ import annotations

from django.db import migrations, models

from gedaechtnis.scoping.operations import RunSQLFile


class Migration(migrations.Migration):
    dependencies = [("scoping", "0002_policies"), ("identity", "0001_tables")]
    operations = [
        migrations.AlterField(
            model_name="scopeclock",
            name="state",
            field=models.CharField(
                choices=[("open", "Open"), ("closed", "Closed"), ("erased", "Erased")], default="open", max_length=10
            ),
        ),
        RunSQLFile(__file__, "0003_erase"),
    ]
