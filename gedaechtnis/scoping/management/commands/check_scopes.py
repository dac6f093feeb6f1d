from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from gedaechtnis.scoping import checks


class Command(BaseCommand):
    help = "Check that row-level security guards every scoped table for the role in use."

    def handle(self, *args: Any, **options: Any) -> None:
        found = checks.problems()
        for problem in found:
            self.stderr.write(problem)
        if found:
            raise CommandError(f"{len(found)} problem(s): nothing may be served from this database.")
        self.stdout.write("Scopes are guarded.")
