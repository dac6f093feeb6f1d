from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from gedaechtnis.embeddings import addresses
from gedaechtnis.memory import ports, spaces
from gedaechtnis.memory.ports import EmbeddingsUnavailable
from gedaechtnis.memory.projecting import switching
from gedaechtnis.world.models import VectorSpace


class Command(BaseCommand):
    help = "Which model finds by meaning and how far its vectors are; go over to another while search goes on."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        actions.add_parser("status", help="The model in use, and how many texts have vectors.")
        switch = actions.add_parser("switch", help="Go over to a model. Breaking it off is safe, asking again goes on.")
        switch.add_argument("model", help="bundled, or openai:<model>@<base url>#<dimensions>")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["action"] == "status":
            self._status()
        else:
            self._switch(options["model"])

    def _status(self) -> None:
        used = spaces.in_use()
        name = used.model.name if used.model else None
        self.stdout.write(f"in use: {name or 'none'}")
        if used.note:
            self.stdout.write(used.note)
        for space in VectorSpace.objects.order_by("-is_active", "name"):
            self._tell(space.name, "searched" if space.is_active else "being made")
        if name and not VectorSpace.objects.filter(name=name).exists():
            self._tell(name, "nothing yet")

    def _tell(self, name: str, state: str) -> None:
        counts = switching.counts(name)
        self.stdout.write(
            f"{name} ({state}): {counts.embedded} of {counts.texts} texts have a vector, {counts.waiting} wait, "
            f"{counts.failed} got none, {counts.withheld} are too sensitive to be sent"
        )

    def _switch(self, address: str) -> None:
        if spaces.OWNER not in settings.DATABASES:
            raise CommandError("Indexes belong to the owner: DATABASE_OWNER_URL must be set.")
        try:
            if address == addresses.NONE:
                raise ValueError("to search without vectors, set GEDAECHTNIS_EMBEDDINGS=none")
            model = ports.model_at(address)
        except ValueError as error:
            raise CommandError(f"The model: {error}.") from error
        try:
            switching.switch(model, self.stdout.write)
        except EmbeddingsUnavailable as unavailable:
            raise CommandError(f"{model.name}: {unavailable.reason}. Ask again to go on.") from unavailable
        wanted = ports.embedding_model()
        if wanted is None or wanted.name != model.name:
            self.stdout.write(
                f"Now set GEDAECHTNIS_EMBEDDINGS={address} and restart, so that a new memory begins with it."
            )
