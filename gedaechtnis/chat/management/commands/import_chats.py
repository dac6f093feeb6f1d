from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import translation

from gedaechtnis.chat import episodes
from gedaechtnis.chat.answers import ImportProgress
from gedaechtnis.chat.imports import service
from gedaechtnis.chat.imports.files import FORMATS, ChatFiles
from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import person, system
from gedaechtnis.memory.projecting import index

_WORDS = {
    "not_json": "it is not JSON, or cut off",
    "not_a_message": "it is no message",
    "no_messages": "it holds no messages",
    "broken_message": "a message of it cannot be read; the others were kept",
    "no_chat": "“chat” is missing",
    "no_id": "“id” is missing",
    "no_text": "“text” is missing or no text",
    "no_time": "“sent_at” is missing or no time",
    "unknown_role": "“role” is none of user, assistant, other",
    "too_long": "it, or a name in it, is too long",
    "said_otherwise": "was there before with other words, which were kept",
    "undated": "its time cannot be read; kept without",
    "other_product": "it belongs to another product",
    "broken_archive": "the file in the archive is damaged or locked",
}


class Command(BaseCommand):
    help = "Import the chats that another assistant exported, or JSON Lines of any origin, for a user."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="an archive, a JSON file, JSON Lines, or a folder of them")
        parser.add_argument("--format", choices=FORMATS, help="recognised without it")
        parser.add_argument("--user", required=True, help="whose chats they become")
        parser.add_argument("--learn", action="store_true", help="have the curator read them as well")

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(username=options["user"]).first()
        if user is None:
            raise CommandError(f"There is no user {options['user']}.")
        principal = person(user)
        own = principal.default_scope
        for stopped in service.unfinished(principal=principal):
            self.stdout.write("Going on with an import that was stopped:")
            self._write(own, stopped)
        try:
            with translation.override("en"):  # as everything that commands say
                files = ChatFiles.at(options["file"], zone=principal.zone, format=options["format"])
                received = service.receive(principal=principal, files=files, learn=options["learn"])
        except OSError as error:
            raise CommandError(f"{error.strerror}: {error.filename}") from error
        except Problem as error:
            raise CommandError(f"{error.detail} Nothing was written.") from error
        done = self._write(own, received.id)
        self.stdout.write("Making them findable …")
        episodes.project(scope_ref=own)
        index.run(scope_ref=own)
        if done.learn:
            for learned in service.learn(user=user, import_id=done.id):
                self.stdout.write(f"\rThe curator has read {learned.learned} chats", ending="")
            self.stdout.write("")
            index.run(scope_ref=own)
        self._sum_up(done)

    def _write(self, scope_ref: str, import_id: Any) -> ImportProgress:
        for seen in service.write(scope_ref=scope_ref, import_id=import_id):
            self.stdout.write(f"\r{seen.messages + seen.known} of {seen.staged} messages", ending="")
        self.stdout.write("")
        return service.get_import(principal=system(scope_ref, service.IMPORT_CHATS), import_id=import_id)

    def _sum_up(self, done: ImportProgress) -> None:
        self.stdout.write(
            f"{done.chats} new chats, {done.messages} new messages; {done.known} messages were there before."
        )
        if done.passed_over:
            self.stdout.write(f"{len(done.passed_over)} files hold no chats and were passed over.")
        if not done.broken_count:
            return
        self.stderr.write(f"{done.broken_count} places could not be read, or not wholly:")
        for flaw in done.broken:
            self.stderr.write(f"  {flaw.file}, {flaw.unit} {flaw.number}: {_WORDS[flaw.reason]}")
        if done.broken_count > len(done.broken):
            self.stderr.write(f"  and {done.broken_count - len(done.broken)} more")
