from __future__ import annotations

from django.db import migrations, models

from gedaechtnis.scoping.operations import RunSQLFile


class Migration(migrations.Migration):
    dependencies = [("world", "0013_projections")]

    operations = [
        migrations.CreateModel(
            name="VectorSpace",
            fields=[
                ("name", models.CharField(max_length=200, primary_key=True, serialize=False)),
                ("address", models.CharField(max_length=500)),
                ("dimensions", models.IntegerField()),
                ("is_active", models.BooleanField(default=False)),
                ("made_at", models.DateTimeField()),
            ],
            options={
                "db_table": "vector_spaces",
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("is_active", True)), fields=("is_active",), name="vector_spaces_one_active"
                    )
                ],
            },
        ),
        RunSQLFile(__file__, "0014_vector_spaces"),
    ]
