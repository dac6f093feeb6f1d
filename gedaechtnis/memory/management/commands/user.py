from __future__ import annotations

import secrets
import sys
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import IntegrityError, transaction

from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.models import User
from gedaechtnis.memory.services.erasure import delete_user

_ACTOR = "system:command"


class Command(BaseCommand):
    help = "Make or delete a user: `user create NAME [--password -]`, `user delete NAME [--yes]`."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        create = actions.add_parser("create", help="Make a user; without --password one is made and printed.")
        create.add_argument("username")
        create.add_argument("--password", help="the password, or - to read it from standard input")
        create.add_argument("--name", default="", help="the name of the person")
        create.add_argument("--time-zone", default=None)
        create.add_argument("--language", default=None, choices=["de", "en"])
        create.add_argument("--admin", action="store_true", help="may use the admin pages")
        delete = actions.add_parser("delete", help="Delete a user and erase their memory, at once and for good.")
        delete.add_argument("username")
        delete.add_argument("--yes", action="store_true", help="do not ask for the user name again")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["action"] == "create":
            self._create(options)
        else:
            self._delete(options["username"], sure=options["yes"])

    def _delete(self, username: str, *, sure: bool) -> None:
        user = User.objects.filter(username=username).first()
        if user is None:
            raise CommandError(f"There is no user {username}.")
        if not sure:
            self.stdout.write(f"Type {username} to erase all that {username} remembers: ", ending="")
            self.stdout.flush()
            if sys.stdin.readline().strip() != username:
                raise CommandError("Nothing was deleted.")
        try:
            delete_user(user=user, acted_by=_ACTOR)
        except Problem as problem:
            raise CommandError(problem.detail) from problem
        self.stdout.write(f"User {username} is deleted (sub {user.sub}).")

    def _create(self, options: dict[str, Any]) -> None:
        given = options["password"]
        password = sys.stdin.readline().rstrip("\n") if given == "-" else given or secrets.token_urlsafe(12)
        if not password:
            raise CommandError("The password is empty.")
        user = User(username=options["username"], first_name=options["name"])
        user.is_staff = user.is_superuser = options["admin"]
        if options["time_zone"]:
            user.time_zone = options["time_zone"]
        if options["language"]:
            user.language = options["language"]
        user.set_password(password)
        try:
            user.full_clean()
            with transaction.atomic():
                user.save()
        except (ValidationError, IntegrityError) as error:
            raise CommandError(f"This user cannot be made: {error}") from error
        self.stdout.write(f"User {user.username} is made (sub {user.sub}).")
        if given is None:
            self.stdout.write(password)
