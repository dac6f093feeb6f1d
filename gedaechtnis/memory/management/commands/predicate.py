from __future__ import annotations

import time
from argparse import BooleanOptionalAction
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from gedaechtnis.common.problems import Problem
from gedaechtnis.memory.services.predicates import FOLLOW_PREDICATE, change_predicate
from gedaechtnis.registry import usage
from gedaechtnis.registry.changes import CHANGE_PREDICATE
from gedaechtnis.registry.models import FROZEN, Predicate
from gedaechtnis.scoping import work
from gedaechtnis.scoping.models import Work

_ACTOR = "system:command"
_PAUSE_SECONDS = 0.2


class Command(BaseCommand):
    help = "Where a predicate is used, in numbers; change its rules together with the facts written by them."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        asked = actions.add_parser("usage", help="Count the facts that use it, over all memories.")
        asked.add_argument("key")
        change = actions.add_parser(
            "change", help="Change frozen rules; breaking it off is safe, asking again goes on."
        )
        change.add_argument("key")
        change.add_argument("--cardinality", choices=Predicate.Cardinality.values)
        for name in (name for name in FROZEN if name != "cardinality"):
            change.add_argument(f"--{name.replace('_', '-')}", action=BooleanOptionalAction, default=None)
        change.add_argument("--no-wait", action="store_true", help="leave the work to the workers")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["action"] == "usage":
            if not Predicate.objects.filter(key=options["key"]).exists():
                raise CommandError(f"There is no predicate {options['key']}.")
            found = usage.of_predicate(options["key"])
            self.stdout.write(
                f"{options['key']}: {found.believed} facts believed, {found.closed} no longer, "
                f"{found.waiting} waiting, in {found.scopes} memories"
            )
            return
        flags = {name: options[name] for name in FROZEN if options[name] is not None}
        if not flags:
            raise CommandError("Say what changes, for example --cardinality set.")
        try:
            change_predicate(key=options["key"], flags=flags, acted_by=_ACTOR)
        except Problem as problem:
            raise CommandError(problem.detail) from problem
        if not options["no_wait"]:
            self._wait(options["key"])
        self.stdout.write(f"{options['key']} is changed{', its facts follow' if options['no_wait'] else ''}.")

    def _wait(self, key: str) -> None:
        """Do the work beside the workers until none is left, telling how much there is."""
        following = Work.objects.filter(kind__in=(CHANGE_PREDICATE, FOLLOW_PREDICATE), dedupe_key=key)
        told = 0
        while left := following.filter(failed_at=None).count():
            if left != told:
                self.stdout.write(f"{left} to do")
                told = left
            if not work.run_due():
                time.sleep(_PAUSE_SECONDS)
        if failed := following.count():
            raise CommandError(f"{failed} memories could not follow; the log says why. Ask again to try them again.")
