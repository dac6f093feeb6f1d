from __future__ import annotations

from django.db import migrations

from gedaechtnis.scoping.operations import SameScope, ScopedTable, ScopedTarget


class Migration(migrations.Migration):
    dependencies = [("chat", "0001_tables"), ("scoping", "0002_policies")]
    operations = [
        *[ScopedTable(table) for table in ("chats", "messages", "runs")],
        ScopedTarget("chats"),
        SameScope("messages", "chat_id", "chats"),
        SameScope("runs", "chat_id", "chats"),
    ]
