from __future__ import annotations

import secrets
import sys
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import IntegrityError, transaction

from gedaechtnis.identity.models import User


class Command(BaseCommand):
    help = "Make a user: `user create NAME [--password -]` (- reads the password from standard input)."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        create = actions.add_parser("create", help="Make a user; without --password one is made and printed.")
        create.add_argument("username")
        create.add_argument("--password", help="the password, or - to read it from standard input")
        create.add_argument("--name", default="", help="the name of the person")
        create.add_argument("--time-zone", default=None)
        create.add_argument("--language", default=None, choices=["de", "en"])
        create.add_argument("--admin", action="store_true", help="may use the admin pages")

    def handle(self, *args: Any, **options: Any) -> None:
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
