"""An entity of which much was believed once: the page shows the last of it, and all of it on request."""

from __future__ import annotations

from django.test import Client

from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import person
from gedaechtnis.memory.schemas import MemoryMutationProposal
from gedaechtnis.memory.services.commit import commit_proposal
from gedaechtnis.web.views.entity import _MAX_EARLIER
from tests.e2e.conftest import EVA, apart

TOO_MANY = 3


def test_past_beliefs_come_a_few_at_a_time(eva: None, anna: User) -> None:
    jobs = [
        {
            "op": "assert_fact",
            "subject_ref": "person:eva",
            "predicate": "job_title",
            "object_value": f"Beruf {number}",
            "valid_from": f"{1990 + number}",
        }
        for number in range(_MAX_EARLIER + TOO_MANY)
    ]
    proposal = MemoryMutationProposal.model_validate({"operations": jobs})
    apart(lambda: commit_proposal(principal=person(anna), proposal=proposal))
    client = Client()
    client.force_login(anna)
    first = client.get(EVA).content.decode()
    assert f"{TOO_MANY} weitere" in first  # the last job still holds; Nürnberg is over
    assert "Beruf 2<" not in first
    everything = client.get(EVA, {"earlier": "all"}).content.decode()
    assert "weitere" not in everything
    assert "Beruf 0<" in everything
