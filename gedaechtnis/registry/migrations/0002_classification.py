from __future__ import annotations

from typing import ClassVar

from django.db import migrations, models

LEVELS = [(0, "public"), (1, "internal"), (2, "personal"), (3, "sensitive")]


class Migration(migrations.Migration):
    dependencies: ClassVar = [("registry", "0001_tables")]

    operations: ClassVar = [
        migrations.AddField(
            model_name="entitykind",
            name="classification",
            field=models.SmallIntegerField(choices=LEVELS, default=1),
        ),
        migrations.AddField(
            model_name="predicate",
            name="classification",
            field=models.SmallIntegerField(choices=LEVELS, default=1),
        ),
        # Seeding leaves terms alone that exist; those of a running installation start with the same levels.
        migrations.RunSQL(
            [
                "UPDATE registry_predicate SET classification = 3 WHERE key = 'allergic_to'",
                "UPDATE registry_predicate SET classification = 2 WHERE key IN ('phone', 'email', 'address', 'born_on')",
                "UPDATE registry_predicate SET classification = 0 WHERE privileged",
                "UPDATE registry_entitykind SET classification = 0 WHERE privileged",
            ],
            reverse_sql=migrations.RunSQL.noop,
        ),
    ]
