from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from gedaechtnis.common import clock
from gedaechtnis.common.instants import parse_bound
from gedaechtnis.common.problems import Problem
from gedaechtnis.identity import principals
from gedaechtnis.identity.models import User
from gedaechtnis.identity.tokens import create_token, list_tokens, revoke_token

_DURATION = re.compile(r"(\d+)([dhm])")
_ACTOR = "system:command"
_COLUMNS = ("id", "prefix", "state", "agent role", "writes", "clearance", "expires", "last used", "name")
_UNITS = {"d": "days", "h": "hours", "m": "minutes"}


class Command(BaseCommand):
    help = (
        "Bearer tokens: `token create USER --name N` (the token alone on the last line), `list USER`, `revoke USER ID`."
    )

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

        listing = actions.add_parser("list", help="Show the tokens of a user; never the secrets.")
        listing.add_argument("username")
        revoke = actions.add_parser("revoke", help="End a token of a user for good.")
        revoke.add_argument("username")
        revoke.add_argument("id", type=UUID, help="as `list` shows it")

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(username=options["username"]).first()
        if user is None:
            raise CommandError(f"There is no user {options['username']}.")
        try:
            match options["action"]:
                case "list":
                    self._list(user)
                case "revoke":
                    revoke_token(user=user, token_id=options["id"], acted_by=_ACTOR)
                case _:
                    self._create(user, options)
        except Problem as problem:
            raise CommandError(problem.detail) from problem

    def _create(self, user: User, options: dict[str, Any]) -> None:
        _token, secret = create_token(
            user=user,
            name=options["name"],
            agent_role=options["agent_role"],
            read_only=options["read_only"],
            trusted_writer=options["trusted_writer"],
            write_scope=options["write_scope"],
            clearance=options["clearance"],
            expires_at=_expiry(options["expires"], user),
            acted_by=_ACTOR,
        )
        self.stdout.write(secret)

    def _list(self, user: User) -> None:
        """One line a token, columns with tabs between them."""
        self.stdout.write("\t".join(_COLUMNS))
        for token in list_tokens(user=user):
            values = (
                str(token.id),
                token.prefix,
                "revoked" if token.revoked_at else "expired" if token.has_expired else "valid",
                token.agent_role or "-",
                "nothing" if token.read_only else token.write_scope or "all",
                str(token.clearance),
                _moment(token.expires_at),
                _moment(token.last_used_at),
                token.name,
            )
            self.stdout.write("\t".join(values))


def _moment(at: datetime | None) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ") if at else "-"


def _expiry(text: str | None, user: User) -> Any:
    if text is None:
        return None
    if matched := _DURATION.fullmatch(text):
        return clock.now() + timedelta(**{_UNITS[matched[2]]: int(matched[1])})
    bound = parse_bound(text, zone=principals.person(user).zone, field="--expires")
    return bound.at if bound else None
