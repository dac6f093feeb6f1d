"""What is proposed together is decided together."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("world", "0020_began"),
    ]

    operations = [
        migrations.AddField(
            model_name="proposal",
            name="following",
            field=models.JSONField(default=list),
        ),
    ]
