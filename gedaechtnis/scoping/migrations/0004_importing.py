from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("scoping", "0003_erase")]

    operations = [
        migrations.AlterField(
            model_name="scopeclock",
            name="state",
            field=models.CharField(
                choices=[("open", "Open"), ("closed", "Closed"), ("importing", "Importing"), ("erased", "Erased")],
                default="open",
                max_length=10,
            ),
        )
    ]
