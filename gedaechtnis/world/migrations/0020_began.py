"""What began in a time that a question names is looked up."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("world", "0019_fact_usage"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="projection",
            index=models.Index(
                condition=models.Q(("source_kind", "fact")),
                fields=["scope_ref", "valid_from"],
                name="memory_projections_began",
            ),
        ),
    ]
