from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from gedaechtnis.chat import episodes
from gedaechtnis.memory.projecting import checking
from gedaechtnis.scoping.models import ScopeClock


class Command(BaseCommand):
    help = "What search reads: compare it with memory, or make it again from memory. For one scope or all open ones."

    def add_arguments(self, parser: CommandParser) -> None:
        acts = parser.add_mutually_exclusive_group(required=True)
        acts.add_argument("--check", action="store_true", help="Count what differs; ends with 1 if anything does.")
        acts.add_argument("--rebuild", action="store_true", help="Make it again; vectors of equal texts are kept.")
        parser.add_argument("--scope", help="user:…, group:…, org:… or global; without it all.")

    def handle(self, *args: Any, **options: Any) -> None:
        differences = 0
        for scope_ref in self._scopes(options["scope"]):
            if options["rebuild"]:
                episodes.rebuild(scope_ref=scope_ref)
                checking.rebuild(scope_ref=scope_ref)
                self.stdout.write(f"{scope_ref}: made again")
                continue
            found = episodes.check(scope_ref=scope_ref) + checking.check(scope_ref=scope_ref)
            differences += found.total()
            told = ", ".join(f"{count} {what}" for what, count in sorted(found.items()))
            self.stdout.write(f"{scope_ref}: {told or 'as it should be'}")
        if differences:
            raise CommandError(f"{differences} differences; --rebuild makes it again.")

    def _scopes(self, wanted: str | None) -> list[str]:
        """Nobody may write in the others, so nobody makes anything findable there."""
        is_open = ScopeClock.objects.filter(state=ScopeClock.State.OPEN)
        if wanted is None:
            return list(is_open.order_by("scope_ref").values_list("scope_ref", flat=True))
        if not is_open.filter(scope_ref=wanted).exists():
            raise CommandError("There is no such scope, or it is closed.")
        return [wanted]
