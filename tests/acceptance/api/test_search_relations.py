"""Questions of two steps: "Wo wohnt Tims Schwester?" is about her, of today or of then, and for nobody else."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from gedaechtnis.identity.models import Group, GroupMembership, User
from gedaechtnis.identity.principals import Principal
from gedaechtnis.memory.projecting import index
from gedaechtnis.memory.selectors.recall import search
from gedaechtnis.memory.selectors.recall.hits import SearchQuery
from tests.acceptance.api.support import fact, propose, relation
from tests.acceptance.api.test_search import find, learn

TIM, LENA, OLE, JAN, EVA, PETRA = (
    "person:tim",
    "person:lena",
    "person:ole",
    "person:jan",
    "person:eva",
    "person:petra",
)
BALU = "pet:balu"
NAMES = {
    TIM: "Tim Vogt", LENA: "Lena Vogt", OLE: "Ole Brandt", JAN: "Jan Reuter", PETRA: "Petra Vogt",
    EVA: "Eva Reuter", BALU: "Balu", "organisation:werft": "Werft", "place:kiel": "Kiel", "place:bonn": "Bonn",
}  # fmt: skip


def thing(ref: str) -> dict[str, Any]:
    return {"op": "upsert_entity", "id_hint": ref, "kind": ref.partition(":")[0], "canonical_name": NAMES[ref]}


@pytest.fixture
def family(api: Any, anna: User) -> Any:
    """Tim's sister Lena was with Jan until 2022 and is with Ole now."""
    propose(
        api,
        *map(thing, NAMES),
        relation(LENA, "sibling_of", TIM),
        relation(PETRA, "parent_of", LENA),
        relation(LENA, "partner_of", JAN, valid_from="2017-01-01", valid_to="2022-01-01"),
        relation(LENA, "partner_of", OLE, valid_from="2022-06-01"),
        relation(BALU, "owned_by", OLE),
        relation(TIM, "works_at", "organisation:werft", valid_from="2010-01-01"),
        *(relation(one, "lives_in", "place:bonn", valid_from="2010-01-01") for one in (TIM, JAN, PETRA)),
        *(relation(one, "lives_in", "place:kiel", valid_from="2010-01-01") for one in (LENA, OLE)),
        *(fact("likes", f"Tee {number}", subject=TIM) for number in range(12)),
        fact("born_on", "1960-05-05", subject=PETRA),
        fact("note", "baut Fähren", subject="organisation:werft", statement="Die Werft baut Fähren"),
        fact("allergic_to", "Huhn", subject=BALU),
    )
    learn(anna)
    return api


def first(api: Any, query: str, most: int = 3, **asked: Any) -> list[str]:
    return [hit["text"] for hit in find(api, query, **asked)["hits"][:most]]


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("Wo wohnt Tims Schwester?", "Lena Vogt wohnt in Kiel"),
        ("Wo wohnt die Schwester von Tim?", "Lena Vogt wohnt in Kiel"),
        ("Where does Tim's sister live?", "Lena Vogt wohnt in Kiel"),
        ("Where does the brother of Lena live?", "Tim Vogt wohnt in Bonn"),
        ("Wo wohnt Lenas Partner?", "Ole Brandt wohnt in Kiel"),
        ("Wann hat Lenas Mutter Geburtstag?", "Petra Vogt"),
        ("Wogegen ist der Hund von Lenas Partner allergisch?", "Balu"),
        ("Wo wohnt der Besitzer von Balu?", "Ole Brandt wohnt in Kiel"),
        ("Was baut die Firma, in der Tim arbeitet?", "Die Werft baut Fähren"),
        ("What does the company where Tim works do?", "Die Werft baut Fähren"),
    ],
)
def test_it_finds_what_is_known_of_the_other_end(family: Any, query: str, answer: str) -> None:
    found = first(family, query)
    assert any(text.startswith(answer) for text in found), found


def test_the_relation_is_that_of_the_time_asked_about(family: Any) -> None:
    now, then = "Ole Brandt wohnt in Kiel", "Jan Reuter wohnt in Bonn"

    def told(query: str, **asked: Any) -> list[str]:
        return [text for text in first(family, query, **asked) if text.startswith((now, then))]

    assert told("Wo wohnt Lenas Partner?") == [now]
    assert told("Wo wohnt Lenas Partner?", valid_at="2020-06-01")[0].startswith(then)
    assert told("Wo wohnte Lenas Partner 2020?")[0].startswith(then)
    assert told("Wo wohnt Lenas früherer Partner?")[0].startswith(then)
    assert told("Where does Lena's ex-partner live?")[0].startswith(then)


def test_what_was_not_known_yet_leads_nowhere(family: Any, anna: User) -> None:
    before = find(family, "Wo wohnt Tim?")["basis"]
    propose(
        family,
        *map(thing, (TIM, EVA)),
        relation(EVA, "married_to", TIM),
        fact("likes", "Segeln", subject=EVA),
    )
    learn(anna)
    query = "Was mag Tims Frau?"
    assert any(text.startswith("Eva Reuter") for text in first(family, query, 5))
    assert not any(text.startswith("Eva Reuter") for text in first(family, query, 20, known_at=before))


def test_whose_relation_nobody_knows_is_asked_about_themselves(family: Any) -> None:
    assert first(family, "Wo wohnt Tims Chef?", 1) == first(family, "Wo wohnt Tim?", 1)


def test_a_relation_that_only_others_know_of_leads_nowhere(family: Any, anna: User, clara: User, stranger: Any) -> None:
    assert find(stranger, "Wo wohnt Tims Schwester?")["hits"] == []
    group = Group.objects.create(name="WG")
    for user in (anna, clara):
        GroupMembership.objects.create(group=group, user=user)
    shared = {"Gedaechtnis-Scope": f"group:{group.pk}"}
    liked = [fact("likes", "Gold", subject=LENA), fact("likes", "Silber", subject=TIM)]
    propose(family, *map(thing, (TIM, LENA)), *liked, **shared)
    index.run(scope_ref=f"group:{group.pk}")
    assert (
        first(stranger, "Was mag Tims Schwester?", 1) == first(stranger, "Was mag Tim?", 1) == ["Tim Vogt mag Silber"]
    )


def test_it_costs_one_statement_where_a_relation_is_named(family: Any, as_anna: Principal) -> None:
    def statements(text: str) -> int:
        search.search(principal=as_anna, query=SearchQuery(text=text))
        with CaptureQueriesContext(connection) as captured:
            search.search(principal=as_anna, query=SearchQuery(text=text))
        return sum("AS f\nJOIN entities" in query["sql"] for query in captured)

    assert statements("Wo wohnt Tim?") == 0
    assert statements("Wo wohnt Tims Schwester?") == 1
    assert statements("Kennt Tims Schwester Lenas Partner oder den Hund von Ole?") == 1
