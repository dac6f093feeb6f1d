from __future__ import annotations

from django.db import migrations, models

from gedaechtnis.scoping.operations import RunSQLFile


class Migration(migrations.Migration):
    dependencies = [("world", "0004_reads")]
    operations = [
        RunSQLFile(__file__, "0005_classify"),
        migrations.AddIndex(
            model_name="factevidence",
            index=models.Index(
                condition=models.Q(("ref__isnull", False)), fields=["scope_ref", "ref"], name="fact_evidence_ref"
            ),
        ),
    ]
