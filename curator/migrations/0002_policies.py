from __future__ import annotations

from django.db import migrations

from gedaechtnis.scoping.operations import SameScope, ScopedTable


class Migration(migrations.Migration):
    dependencies = [("curator", "0001_tables"), ("chat", "0002_policies")]
    operations = [
        *[ScopedTable(table) for table in ("curator_states", "curator_runs")],
        SameScope("curator_states", "chat_id", "chats"),
        SameScope("curator_runs", "chat_id", "chats"),
    ]
