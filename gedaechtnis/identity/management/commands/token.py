from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from gedaechtnis.common import clock
from gedaechtnis.common.instants import parse_bound
from gedaechtnis.common.problems import Problem
from gedaechtnis.identity import principals
from gedaechtnis.identity.models import User
from gedaechtnis.identity.tokens import create_token

_DURATION = re.compile(r"(\d+)([dhm])")
_UNITS = {"d": "days", "h": "hours", "m": "minutes"}


class Command(BaseCommand):
    help = "Make a bearer token: `token create USER --name N`; prints the token alone on the last line."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        create = actions.add_parser("create", help="Make a token for a user.")
        create.add_argument("username")
        create.add_argument("--name", required=True)
        create.add_argument("--read-only", action="store_true")
        create.add_argument("--agent-role", default="", help="makes it an agent's token, e.g. assistant")
        create.add_argument("--trusted-writer", action="store_true")
        create.add_argument("--write-scope", default="")
        create.add_argument("--clearance", type=int, default=principals.MAX_CLEARANCE, choices=range(4))
        create.add_argument("--expires", default=None, help="a date, an instant, or a span such as 30d or 12h")

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(username=options["username"]).first()
        if user is None:
            raise CommandError(f"There is no user {options['username']}.")
        try:
            _token, secret = create_token(
                user=user,
                name=options["name"],
                agent_role=options["agent_role"],
                read_only=options["read_only"],
                trusted_writer=options["trusted_writer"],
                write_scope=options["write_scope"],
                clearance=options["clearance"],
                expires_at=_expiry(options["expires"], user),
                acted_by="system:command",
            )
        except Problem as problem:
            raise CommandError(problem.detail) from problem
        self.stdout.write(secret)


def _expiry(text: str | None, user: User) -> Any:
    if text is None:
        return None
    if matched := _DURATION.fullmatch(text):
        return clock.now() + timedelta(**{_UNITS[matched[2]]: int(matched[1])})
    bound = parse_bound(text, zone=principals.person(user).zone, field="--expires")
    return bound.at if bound else None
