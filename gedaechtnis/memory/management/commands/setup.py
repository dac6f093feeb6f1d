from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from gedaechtnis.common import clock
from gedaechtnis.memory import spaces
from gedaechtnis.memory.projecting import vectors
from gedaechtnis.registry.seed import seed
from gedaechtnis.scoping import checks, grants
from gedaechtnis.world import partitions


class Command(BaseCommand):
    help = "Migrate as the owner, grant the application its rights, seed the registry, check the guard. Safe to repeat."

    def handle(self, *args: Any, **options: Any) -> None:
        verbosity = options["verbosity"]
        call_command("migrate", database="owner", interactive=False, verbosity=max(0, verbosity - 1))
        grants.apply()
        seed()
        spaces.prepare()
        if spaces.is_on():
            vectors.ask_everywhere()
        now = clock.now()
        partitions.ensure(now)
        partitions.schedule(now + timedelta(days=1))
        found = checks.problems()
        if found:
            raise CommandError("\n".join(found))
        if verbosity:
            self.stdout.write("The database is ready.")
