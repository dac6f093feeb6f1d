from __future__ import annotations

import os
import secrets
from typing import Any

from django.core.management.base import BaseCommand

from gedaechtnis.chat import sample
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal, agent, person
from gedaechtnis.memory.schemas import MemoryMutationProposal
from gedaechtnis.memory.services.commit import commit_proposal

USERNAME = "anna"


class Command(BaseCommand):
    help = "Make a sample user with a small German world to try things on; does nothing if she exists."

    def handle(self, *args: Any, **options: Any) -> None:
        if User.objects.filter(username=USERNAME).exists():
            self.stdout.write(f"The sample user {USERNAME} exists already.")
            return
        password = os.environ.get("GEDAECHTNIS_SAMPLE_PASSWORD") or secrets.token_urlsafe(9)
        user = User(username=USERNAME, first_name="Anna", last_name="Weber", is_staff=True, is_superuser=True)
        user.set_password(password)
        user.save()
        principal = person(user)
        self._commit(principal, sample.WORLD, "sample-world")
        # An agent's guesses wait for her word.
        self._commit(agent(user, "assistant"), sample.GUESSES, "sample-guesses")
        self.stdout.write(f"Sample user: {USERNAME}")
        if "GEDAECHTNIS_SAMPLE_PASSWORD" not in os.environ:
            self.stdout.write(f"Password: {password}")

    def _commit(self, principal: Principal, operations: list[dict[str, Any]], run_id: str) -> None:
        proposal = MemoryMutationProposal.model_validate({"run_id": run_id, "operations": operations})
        for entry in commit_proposal(principal=principal, proposal=proposal).results:
            if entry.code:
                self.stderr.write(f"operation {entry.op_index}: {entry.code}: {entry.reason}")
