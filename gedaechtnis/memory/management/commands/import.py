from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import person, system
from gedaechtnis.memory.transfer import archives


class Command(BaseCommand):
    help = "Import an export file (JSON Lines) into the new memory of a user or group, with its whole history."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        target = parser.add_mutually_exclusive_group(required=True)
        target.add_argument("--user", help="whose memory it becomes")
        target.add_argument("--group", help="the id of the group whose memory it becomes")
        parser.add_argument("--keep-ids", action="store_true", help="also if others have a memory here already")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["user"] is not None:
            user = User.objects.filter(username=options["user"]).first()
            if user is None:
                raise CommandError(f"There is no user {options['user']}.")
            principal = person(user)
        else:
            principal = system(f"group:{options['group']}", "import")
        scope_ref = principal.read_scopes[0]
        try:
            with options["file"].open("rb") as file:
                waiting = archives.receive(
                    principal=principal, file=file, scope_ref=scope_ref, keep_ids=options["keep_ids"]
                )
        except (OSError, Problem) as error:
            raise CommandError(f"{error} Nothing was written.") from error
        for seen in archives.write(scope_ref=scope_ref, import_id=waiting.id):
            self.stdout.write(f"\r{seen.rows_done} of {seen.rows} rows", ending="")
        self.stdout.write("")
        if seen.problem:
            raise CommandError(f"The database refused a row ({seen.problem}). Nothing was written.")
        for table, count in sorted(seen.left_out.items()):
            self.stderr.write(f"{table}: {count} rows name something that is not here, and were left out")
