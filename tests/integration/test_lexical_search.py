"""The best postings of each word: read from an index alone, the same with and without policies, filtered first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.db import connection

from gedaechtnis.common.ids import uuid7
from gedaechtnis.common.lexemes import lexemes
from gedaechtnis.identity import groups
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal, person
from gedaechtnis.memory.projecting import index, projections
from gedaechtnis.memory.projecting.access import indexing
from gedaechtnis.memory.projecting.projections import Draft
from gedaechtnis.memory.selectors import names
from gedaechtnis.memory.selectors.recall import candidates, spelling
from gedaechtnis.memory.selectors.recall.candidates import WantedTerm
from gedaechtnis.memory.selectors.recall.filters import Filters
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import Projection

Admin = psycopg.Connection[Any]
NOW = datetime(2026, 6, 1, tzinfo=UTC)
LATER = NOW + timedelta(days=1)
WORDS = [f"wort{number:03}" for number in range(200)]


def store(scope_ref: str, texts: Sequence[str], **columns: Any) -> list[UUID]:
    """Indexed projections of a scope, one for each text; their sources' ids, which are in their order."""
    ids = [uuid7() for _text in texts]
    drafts = [
        Draft(
            **{
                "source_kind": Projection.Source.FACT,
                "source_id": id,
                "text": text,
                "ref": f"fact:{id}",
                "classification": 1,
                "recorded_at": NOW,
                "touched_at": NOW,
                **columns,
            }
        )
        for id, text in zip(ids, texts, strict=True)
    ]
    with indexing(scope_ref) as place:
        projections.store(place, drafts)
    index.run(scope_ref=scope_ref)
    return ids


def today(principal: Principal, **restricted: Any) -> Filters:
    return Filters(ticks=dict.fromkeys(principal.read_scopes, LATER), is_of_today=True, **restricted)


def wanted(*words: str) -> list[WantedTerm]:
    return [WantedTerm(lexeme, 1.0 + place) for place, word in enumerate(words) for lexeme in lexemes(word)]


def found(principal: Principal, terms: Sequence[WantedTerm], filters: Filters, limit: int = 100) -> list[str]:
    """Texts, the best first."""
    with scope(principal):
        ids = candidates.lexical(terms, filters, limit)
        texts = dict(Projection.objects.filter(pk__in=ids).values_list("pk", "text"))
    return [texts[id] for id in ids]


def test_what_holds_more_of_what_is_rare_comes_first(as_anna: Principal) -> None:
    store(
        as_anna.default_scope,
        [
            "Die Lampe im Keller flackert",
            "Im Keller steht ein Regal",
            "Das Regal im Keller wackelt, sagt die Nachbarin, und zwar schon seit vielen Jahren jeden Winter",
            "Der Garten ist groß",
        ],
    )
    texts = found(as_anna, wanted("Keller", "Regal"), today(as_anna))
    assert texts[0] == "Im Keller steht ein Regal"
    assert texts[1].startswith("Das Regal im Keller wackelt")
    assert texts[2] == "Die Lampe im Keller flackert"
    assert len(texts) == 3
    assert found(as_anna, wanted("Keller", "Regal"), today(as_anna), limit=1) == texts[:1]
    assert found(as_anna, [], today(as_anna)) == []
    assert found(as_anna, wanted("Unbekanntes"), today(as_anna)) == []


def test_without_an_open_scope_there_is_nothing(as_anna: Principal) -> None:
    store(as_anna.default_scope, ["Im Keller steht ein Regal"])
    assert candidates.lexical(wanted("Keller"), today(as_anna), 10) == []


@pytest.mark.parametrize(
    "restricted",
    [
        {"source_kinds": ("episode",)},
        {"kinds": ("pet",)},
        {"predicate": "eats"},
        {"chat_id": UUID(int=7)},
        {"valid_at": NOW},
        {"time_range": (NOW - timedelta(days=2), NOW)},
    ],
    ids=lambda restricted: next(iter(restricted)),
)
def test_filters_hold_before_the_limit(as_anna: Principal, restricted: dict[str, Any]) -> None:
    """Thousands that fit better in words take no place from the one that is asked for."""
    home = as_anna.default_scope
    store(home, [f"Fisch Fisch {number}" for number in range(300)], valid_from=NOW + timedelta(hours=1))
    store(
        home,
        ["Irgendwo in einem langen Satz über vieles andere steht auch einmal ein Fisch"],
        source_kind=Projection.Source.EPISODE,
        kind="pet",
        predicate="eats",
        chat_id=UUID(int=7),
        occurred_at=NOW - timedelta(days=1),
    )
    assert found(as_anna, wanted("Fisch"), today(as_anna), limit=1)[0].startswith("Fisch Fisch")
    assert found(as_anna, wanted("Fisch"), today(as_anna, **restricted), limit=1)[0].startswith("Irgendwo")


def test_what_is_believed_no_longer_is_found_in_the_past(as_anna: Principal) -> None:
    store(as_anna.default_scope, ["Das Auto ist rot"], superseded_at=NOW + timedelta(hours=1))
    store(as_anna.default_scope, ["Das Auto ist blau"], recorded_at=NOW + timedelta(hours=1))
    assert found(as_anna, wanted("Auto"), today(as_anna)) == ["Das Auto ist blau"]
    then = Filters(ticks={as_anna.default_scope: NOW})
    assert found(as_anna, wanted("Auto"), then) == ["Das Auto ist rot"]
    assert found(as_anna, wanted("Auto"), Filters(ticks={})) == []


# Whoever asks


@pytest.fixture
def unequal(anna: User, ben: User) -> Principal:
    """Ben, who reads a large scope, a middling one and his own small one; Anna's is hidden from him."""
    random = Random(8)  # noqa: S311
    shared = [groups.create_group(user=anna, name=name) for name in ("Viel", "Mittel")]
    for group in shared:
        groups.add_member(user=anna, group_id=group.pk, username="ben")
    sizes = {f"group:{shared[0].pk}": 600, f"group:{shared[1].pk}": 60, f"user:{ben.sub}": 6, f"user:{anna.sub}": 200}
    for scope_ref, size in sizes.items():
        texts = [
            " ".join(random.choices(WORDS, weights=range(200, 0, -1), k=random.randint(1, 20))) for _ in range(size)
        ]
        store(scope_ref, list(dict.fromkeys(texts)))
    return person(ben)


def test_it_is_the_same_with_and_without_policies(unequal: Principal, admin_connection: Admin) -> None:
    """Who is bound by the policies finds what somebody finds who is not, but names the same scopes."""
    random = Random(9)  # noqa: S311
    for _round in range(30):
        terms = [WantedTerm(word, random.random()) for word in random.sample(WORDS, random.randint(1, 12))]
        filters = today(unequal, **random.choice([{}, {"source_kinds": ("fact",)}, {"predicate": "x"}]))
        with scope(unequal):
            bound = candidates.lexical(terms, filters, 50)
            rare, common = candidates.by_rarity(terms, list(filters.ticks))
        assert rare
        sql, parameters = candidates.statement(rare, common, filters, 50)
        with psycopg.ClientCursor(admin_connection) as cursor:
            cursor.execute(sql, parameters)
            free = [id for (id,) in cursor.fetchall()]
        assert bound == free
        assert bound or filters.predicate


def test_common_words_are_read_in_part_and_weighed_whole(unequal: Principal, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are found stand in the order in which reading everything would put them."""
    terms = [WantedTerm(word, 1 + place) for place, word in enumerate(WORDS[:8])]
    with scope(unequal):
        whole = candidates.lexical(terms, today(unequal), 1_000)
        monkeypatch.setattr(candidates, "WHOLE", 60)
        monkeypatch.setattr(candidates, "BEST", 60)
        monkeypatch.setattr(candidates, "FEWEST", 20)
        rare, common = candidates.by_rarity(terms, list(unequal.read_scopes))
        assert common
        assert len(rare) + len(common) == len(terms)
        in_part = candidates.lexical(terms, today(unequal), 10)
    assert len(in_part) == 10
    assert in_part == [id for id in whole if id in in_part]
    assert len(set(in_part) & set(whole[:10])) >= 5


def test_scopes_that_are_named_show_nothing_that_is_hidden(unequal: Principal, anna: User) -> None:
    hidden = Filters(ticks={f"user:{anna.sub}": LATER}, is_of_today=True)
    with scope(unequal):
        assert candidates.lexical([WantedTerm(word, 1.0) for word in WORDS], hidden, 50) == []
    with scope(person(anna)):
        assert candidates.lexical([WantedTerm(word, 1.0) for word in WORDS], hidden, 50)


@pytest.mark.parametrize("leakproof", [True, False], ids=["as it is", "nothing marked leakproof"])
def test_a_search_reads_nothing_but_the_index(as_anna: Principal, admin_connection: Admin, leakproof: bool) -> None:
    random = Random(10)  # noqa: S311
    store(as_anna.default_scope, [" ".join(random.choices(WORDS, k=12)) + f" n{i}" for i in range(3_000)])
    admin_connection.execute("VACUUM ANALYZE projection_terms")
    sql, parameters = candidates.statement(wanted(*WORDS[:6]), [], today(as_anna), 100)
    with marked(admin_connection, leakproof=leakproof), scope(as_anna), connection.cursor() as cursor:
        cursor.execute("EXPLAIN " + sql, parameters)
        plan = "\n".join(row[0] for row in cursor.fetchall())
    assert "Index Only Scan using projection_terms_search" in plan
    assert "Seq Scan" not in plan
    assert "Sort Key: t.weight" not in plan, "the best stand first already"


class marked:
    """The operators of this database as leakproof or not, for as long as it lasts."""

    def __init__(self, admin: Admin, *, leakproof: bool) -> None:
        self.admin, self.leakproof = admin, leakproof

    def __enter__(self) -> None:
        self._mark(self.leakproof)
        assert names.is_index_usable() is self.leakproof

    def __exit__(self, *_error: object) -> None:
        self._mark(True)

    def _mark(self, leakproof: bool) -> None:
        for function in ("similarity_op", "word_similarity_commutator_op"):
            self.admin.execute(f"ALTER FUNCTION {function}(text, text) {'' if leakproof else 'NOT'} LEAKPROOF")


# Words spelt alike


@pytest.fixture(params=[True, False], ids=["under the policies", "as definer"])
def either_way(request: pytest.FixtureRequest, admin_connection: Admin) -> Iterator[None]:
    with marked(admin_connection, leakproof=request.param):
        yield


@pytest.mark.usefixtures("either_way")
def test_a_typo_finds_the_word_that_was_meant(as_anna: Principal) -> None:
    store(as_anna.default_scope, ["Sertralin morgens", "Sertralin abends", "Der Kühlschrank brummt"])
    (word,) = lexemes("Sertralin")
    with scope(as_anna):
        (near,) = spelling.alike(["sertraljn"])
        assert (near.word, near.lexeme, near.documents) == ("sertraljn", word, 2)
        assert near.likeness >= 0.45
        assert spelling.alike(["xyz", "qqqq"]) == []
        assert spelling.alike([]) == []
    assert spelling.alike(["sertraljn"]) == [], "no scope is open"


def test_letters_that_changed_places_find_the_word_that_was_meant(as_anna: Principal, as_clara: Principal) -> None:
    store(as_anna.default_scope, ["Anna wohnt in Nürnberg", "Zwei Katzen"], classification=3)
    with scope(as_anna):
        found = {(one.word, one.lexeme, one.documents) for one in spelling.swapped(["nurnbreg", "kaztne", "katezn"])}
        assert found == {("nurnbreg", *lexemes("Nürnberg"), 1), ("katezn", *lexemes("Katzen"), 1)}
        assert spelling.alike(["nurnbreg"]) == [], "trigrams alone do not find it"
        assert spelling.swapped([]) == []
    with scope(as_anna, clearance=2):
        assert spelling.swapped(["nurnbreg"]) == []
    with scope(as_clara):
        assert spelling.swapped(["nurnbreg"]) == []


@pytest.mark.usefixtures("either_way")
def test_nobody_learns_a_word_by_a_typo(as_anna: Principal, as_clara: Principal) -> None:
    store(as_anna.default_scope, ["Sertralin morgens"], classification=3)
    with scope(as_anna, clearance=2):
        assert spelling.alike(["sertraljn"]) == []
    with scope(as_clara):
        assert spelling.alike(["sertraljn"]) == []
    with scope(as_anna):
        assert spelling.alike(["sertraljn"]) != []


def test_both_ways_find_the_same(unequal: Principal) -> None:
    typos = [word[:-1] + "x" for word in WORDS] + ["wort", "zzz", ""]
    with scope(unequal):
        bound = spelling.alike(typos, most=5, as_definer=False)
        assert bound == spelling.alike(typos, most=5, as_definer=True)
        assert bound


def test_typos_are_looked_up_in_an_index(as_anna: Principal, admin_connection: Admin) -> None:
    store(as_anna.default_scope, [f"{a}{b}{a}werk" for a in WORDS[:60] for b in WORDS[60:100]])
    admin_connection.execute("VACUUM ANALYZE lexeme_counts")
    with scope(as_anna), connection.cursor() as cursor:
        cursor.execute("SET LOCAL pg_trgm.similarity_threshold = 0.45")
        cursor.execute(
            "EXPLAIN SELECT lexeme FROM lexeme_counts WHERE scope_ref = ANY (%s) AND lexeme %% %s",
            [[as_anna.default_scope], "wort000wort061wort000werg"],
        )
        plan = "\n".join(row[0] for row in cursor.fetchall())
    assert "lexeme_counts_alike" in plan
