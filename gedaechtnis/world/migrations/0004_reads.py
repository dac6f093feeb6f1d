from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models

from gedaechtnis.scoping.operations import RunSQLFile


class Migration(migrations.Migration):
    dependencies = [
        ("world", "0003_names"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="entity",
            name="entities_name_key",
        ),
        migrations.AlterField(
            model_name="entityalias",
            name="entity",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="aliases",
                to="world.entity",
            ),
        ),
        migrations.AlterField(
            model_name="fact",
            name="object_entity",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="inbound_facts",
                to="world.entity",
            ),
        ),
        migrations.AlterField(
            model_name="fact",
            name="subject",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="facts",
                to="world.entity",
            ),
        ),
        migrations.AddIndex(
            model_name="entity",
            index=models.Index(fields=["scope_ref", "name_key", "id"], name="entities_by_name"),
        ),
        migrations.AddIndex(
            model_name="entity",
            index=models.Index(fields=["scope_ref", "kind", "name_key", "id"], name="entities_by_kind"),
        ),
        RunSQLFile(__file__, "0004_reads"),
    ]
