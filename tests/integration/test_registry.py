"""The vocabulary: what is frozen once it is used, and what those who govern it get to see."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import OperationalError
from django.test import Client

from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory.schemas import MemoryMutationProposal
from gedaechtnis.memory.services.commit import commit_proposal
from gedaechtnis.registry import catalogue, usage
from gedaechtnis.registry.models import Predicate
from tests.conftest import make_user

Register = Callable[..., Predicate]


@pytest.fixture
def register(database: None) -> Register:
    def make(key: str, **more: Any) -> Predicate:
        made = Predicate.objects.create(key=key, source="test", **more)
        catalogue.forget()
        return made

    return make


def say(principal: Principal, predicate: str, value: Any) -> None:
    operation = {"op": "assert_fact", "subject_ref": "me", "predicate": predicate, "object_value": value}
    (result,) = commit_proposal(
        principal=principal, proposal=MemoryMutationProposal.model_validate({"operations": [operation]})
    ).results
    assert result.code is None, result


@pytest.mark.parametrize(
    "flags",
    [
        {"cardinality": "functional"},
        {"symmetric": True},
        {"immutable": True},
        {"ignore_case": True},
        {"value_type": "phone"},
    ],
    ids=lambda flags: next(iter(flags)),
)
def test_what_decides_where_beliefs_compete_is_frozen_once_used(
    register: Register, as_anna: Principal, flags: dict[str, Any]
) -> None:
    register("test:hobby")
    Predicate.objects.filter(key="test:hobby").update(**flags)  # nothing was said with it yet
    Predicate.objects.filter(key="test:hobby").update(
        cardinality="set", symmetric=False, immutable=False, ignore_case=False, value_type="any"
    )
    catalogue.forget()
    say(as_anna, "test:hobby", "12345")
    with pytest.raises(OperationalError, match="test:hobby is in use"):
        Predicate.objects.filter(key="test:hobby").update(**flags)
    Predicate.objects.filter(key="test:hobby").update(label_de="Hobby", state="deprecated")


def test_a_predicate_that_facts_name_cannot_be_deleted(register: Register, as_anna: Principal) -> None:
    register("test:used")
    register("test:unused")
    say(as_anna, "test:used", "x")
    Predicate.objects.filter(key="test:unused").delete()
    with pytest.raises(OperationalError, match="in use"):
        Predicate.objects.filter(key="test:used").delete()


def test_usage_is_counted_over_all_memories_and_tells_nothing_else(
    register: Register, as_anna: Principal, as_clara: Principal
) -> None:
    register("test:hobby", cardinality="functional")
    for principal in (as_anna, as_clara):
        say(principal, "test:hobby", "Häkeln")
    say(as_anna, "test:hobby", "Rudern")
    found = usage.of_predicate("test:hobby")
    # of Anna's first hobby what remains of it is believed, too
    assert (found.scopes, found.believed, found.closed, found.waiting) == (2, 3, 1, 0)
    assert usage.of_predicate("test:nothing").is_used is False
    assert usage.of_kind("person").entities == 2


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"key": "mit leerzeichen"}, "key"),
        ({"immutable": True}, "immutable"),
        ({"symmetric": True, "inverse": "tset"}, "inverse"),
        ({"inverse": "lives_in"}, "inverse"),
        ({"inverse": "owns"}, "__all__"),
        ({"value_schema": {"type": "nonsense"}}, "value_schema"),
    ],
)
def test_a_predicate_that_contradicts_itself_is_refused(database: None, wrong: dict[str, Any], field: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Predicate(**{"key": "test:new", **wrong}).full_clean()
    assert field in refused.value.message_dict


@pytest.fixture
def govern(anna: User) -> Client:
    """The admin pages as a member of staff who is nobody in any memory."""
    staff = make_user("gerda")
    staff.is_staff = staff.is_superuser = True
    staff.save()
    client = Client()
    client.force_login(staff)
    return client


def test_the_admin_shows_counts_and_no_memory(govern: Client, as_anna: Principal, register: Register) -> None:
    register("test:secret", label_de="Geheimnis", label_en="secret")
    say(as_anna, "test:secret", "Nusstorte")
    page = govern.get("/admin/registry/predicate/test%3Asecret/change/").content.decode()
    assert "1" in page
    assert "Nusstorte" not in page
    assert str(as_anna.sub) not in page
    assert "manage.py predicate change test:secret" in page
    assert 'name="cardinality"' not in page  # frozen, so there is no field for it


def test_what_nobody_registered_is_listed_for_review_and_taken_into_use(govern: Client, as_anna: Principal) -> None:
    say(as_anna, "collects", "Briefmarken")
    listed = govern.get("/admin/registry/predicate/?state__exact=unreviewed").content.decode()
    assert "collects" in listed
    govern.post("/admin/registry/predicate/", {"action": "take_into_use", "_selected_action": ["collects"]})
    assert Predicate.objects.get(key="collects").state == "loaded"
