"""A person settles what contradicts; statements are found by domain and topic."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("world", "0021_following"),
    ]

    operations = [
        migrations.AddField(
            model_name="conflictrecord",
            name="settled_as",
            field=models.CharField(blank=True, max_length=4),
        ),
        migrations.AddField(
            model_name="conflictrecord",
            name="settled_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="conflictrecord",
            name="settled_by",
            field=models.TextField(blank=True),
        ),
        migrations.AddField(
            model_name="proposal",
            name="against",
            field=models.JSONField(default=list),
        ),
        migrations.AddIndex(
            model_name="fact",
            index=models.Index(
                condition=models.Q(("predicate", "statement"), ("superseded_at__isnull", True)),
                fields=["scope_ref", "subject", "topic"],
                name="facts_statements",
            ),
        ),
    ]
