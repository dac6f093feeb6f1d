"""What was written before there were projections becomes findable too: in the background, scope by scope."""

from __future__ import annotations

from django.db import migrations

_ASK = """
INSERT INTO work (kind, scope_ref, due_at, seq, attempts, dedupe_key, last_error)
SELECT kind, scope_ref, clock_timestamp(), 1, 0, '', ''
FROM scopes CROSS JOIN (VALUES ('index'), ('episodes')) AS asked (kind)
WHERE state = 'open'
ON CONFLICT (kind, scope_ref, dedupe_key) DO NOTHING
"""


class Migration(migrations.Migration):
    dependencies = [
        ("chat", "0004_imports"),
        ("world", "0016_speakers"),
    ]

    operations = [migrations.RunSQL(_ASK, migrations.RunSQL.noop)]
