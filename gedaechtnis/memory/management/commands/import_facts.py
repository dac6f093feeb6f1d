from __future__ import annotations

from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.core.management.base import BaseCommand, CommandError, CommandParser

from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import user_scope
from gedaechtnis.memory.transfer import imports


class Command(BaseCommand):
    help = "Import facts from a tab-separated file (fact_id, subject, relation, object, valid_from, valid_to, source)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--user", required=True, help="whose memory the facts go into")
        parser.add_argument("--zone", default="UTC", help="the time zone of bare dates (default: UTC)")
        parser.add_argument("--kind", default="topic", help="the kind of the entities (default: topic)")

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(username=options["user"]).first()
        if user is None:
            raise CommandError(f"There is no user {options['user']}.")
        report = imports.ImportReport()
        try:
            zone = ZoneInfo(options["zone"])
            rows = imports.read_rows(options["file"])
            for report in imports.import_facts(
                scope_ref=user_scope(user.sub), rows=rows, zone=zone, kind=options["kind"]
            ):
                self.stdout.write(f"\r{report.rows} rows", ending="")
        except (OSError, UnicodeDecodeError, ZoneInfoNotFoundError, Problem) as error:
            raise CommandError(f"{error} ({report.rows} rows were imported before.)") from error
        self.stdout.write("")
        for outcome, count in sorted(report.outcomes.items()):
            self.stdout.write(f"{outcome}: {count}")
        for fact_id, code, reason in report.refused:
            self.stderr.write(f"{fact_id}: {code}: {reason}")
