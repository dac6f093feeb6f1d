from __future__ import annotations

import asyncio
import os
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.http import HttpRequest
from django.utils import translation
from mcp.server.stdio import stdio_server

from gedaechtnis.common.problems import Problem
from gedaechtnis.identity import bearer
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import agent
from gedaechtnis.mcp.server import Caller, WhoAsks, make_server

ROLE = "mcp"


class Command(BaseCommand):
    help = "Offer the tools over stdin and stdout to the program that started this (MCP)."

    def add_arguments(self, parser: CommandParser) -> None:
        who = parser.add_mutually_exclusive_group()
        who.add_argument("--token", help="a bearer token; without it the environment variable GEDAECHTNIS_TOKEN")
        who.add_argument("--user", help="an agent of this user; what it proposes waits for them")
        parser.add_argument("--language", choices=("de", "en"), help="the user's without it")

    def handle(self, *args: Any, **options: Any) -> None:
        who = _by_user(options["user"], options["language"]) if options["user"] else _by_token(options)
        try:
            caller = who(None)
        except Problem as problem:
            raise CommandError(problem.detail) from problem
        asyncio.run(_serve(who, caller.language))


async def _serve(who: WhoAsks, language: str) -> None:
    server = make_server(who, language=language)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def _by_token(options: dict[str, Any]) -> WhoAsks:
    """The token is looked at for each message: it may end, and its user may lose rights, while the program runs."""
    secret = options["token"] or os.environ.get("GEDAECHTNIS_TOKEN", "")
    if not secret:
        raise CommandError("Name a token (--token or GEDAECHTNIS_TOKEN) or a user (--user).")

    def who(_request: Any) -> Caller:
        request = HttpRequest()
        with translation.override(options["language"]):
            found = bearer.admit(secret, request)
            if found is None:
                raise Problem("invalid_token", translation.gettext("This token is not valid, or no longer."), 401)
            language = options["language"] or translation.get_language() or ""
        return Caller(principal=found.principal, language=language)

    return who


def _by_user(username: str, language: str | None) -> WhoAsks:
    def who(_request: Any) -> Caller:
        user = User.objects.filter(username=username, is_active=True).first()
        if user is None:
            raise CommandError(f"There is no user {username}.")
        return Caller(principal=agent(user, ROLE), language=language or user.language)

    return who
