"""Whom a name means: exact names bind, namesakes are asked about, what is alike is never silently one."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from django.db import connections
from django.test import Client
from django.urls import reverse

from curator.control import curate_now
from gedaechtnis.chat import services
from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal, PrincipalKind
from gedaechtnis.memory import resolution
from gedaechtnis.memory.answers import ProposalView
from gedaechtnis.memory.resolution import Mention, Step
from gedaechtnis.memory.schemas import MemoryMutationProposal, OperationResult, Outcome
from gedaechtnis.memory.selectors import asof, entities, proposals
from gedaechtnis.memory.services import governance
from gedaechtnis.memory.services.commit import commit_proposal
from gedaechtnis.scoping import work


def meets(name: str, kind: str = "person", *, hint: str = "x", **more: Any) -> dict[str, Any]:
    return {"op": "upsert_entity", "id_hint": hint, "kind": kind, "canonical_name": name, **more}


def says(subject: str | UUID, predicate: str, value: object, **more: Any) -> dict[str, Any]:
    return {
        "op": "assert_fact", "subject_ref": str(subject), "predicate": predicate, "object_value": value, **more
    }  # fmt: skip


def relates(subject: str | UUID, predicate: str, target: str | UUID, **more: Any) -> dict[str, Any]:
    return {
        "op": "assert_relationship",
        "subject_ref": str(subject),
        "predicate": predicate,
        "object_ref": str(target),
        **more,
    }


class Names:
    """Anna's memory, told and asked by name."""

    def __init__(self, anna: Principal) -> None:
        self.anna = anna
        self.curator = replace(anna, kind=PrincipalKind.CURATOR, acted_by=f"curator@{anna.acted_by}")

    def tell(self, *operations: dict[str, Any], who: Principal | None = None) -> list[OperationResult]:
        proposal = MemoryMutationProposal.model_validate({"operations": list(operations)})
        return commit_proposal(principal=who or self.anna, proposal=proposal).results

    def meet(self, name: str, kind: str = "person", *aliases: str) -> UUID:
        """A new entity, also where another has the name already."""
        (result,) = self.tell(meets(f"{name} (neu)", kind))
        assert result.entity_id is not None
        self.tell(says(result.entity_id, "name", name, correction=True))
        for alias in aliases:
            self.tell({"op": "add_alias", "entity_ref": str(result.entity_id), "alias": alias})
        return result.entity_id

    def resolve(self, name: str, kind: str | None = None) -> resolution.ResolvedEntity:
        return resolution.resolve(principal=self.anna, name=name, kind=kind)

    def named(self, q: str) -> list[str]:
        return [view.name for view in entities.search_entities(principal=self.anna, q=q).items]

    def waiting(self) -> ProposalView:
        (only,) = proposals.list_proposals(principal=self.anna)
        return only

    def answer(self, choice: UUID | None) -> OperationResult:
        return governance.accept_proposal(principal=self.anna, proposal_id=self.waiting().id, choice=choice)

    def known(self, entity: UUID, predicate: str) -> list[str]:
        rows = asof.history(principal=self.anna, entity_id=entity, predicate=predicate)
        return [fact.object.label for fact in rows]


@pytest.fixture
def names(as_anna: Principal) -> Names:
    return Names(as_anna)


def two_julias(names: Names) -> tuple[UUID, UUID]:
    nuernberg, augsburg = names.meet("Nürnberg", "place"), names.meet("Augsburg", "place")
    one, other = names.meet("Julia"), names.meet("Julia")
    names.tell(relates(one, "lives_in", nuernberg), relates(other, "lives_in", augsburg))
    return one, other


FENN = ["Fenn", "Fenn \U0001f33f", "F\u200benn", "\uff26\uff45\uff4e\uff4e", "  fenn "]


def test_case_c25_decorations_are_one_name(names: Names) -> None:
    results = names.tell(*(meets(name, hint=f"m{index}") for index, name in enumerate(FENN)))
    assert len({result.entity_id for result in results}) == 1
    assert [result.outcome for result in results] == [Outcome.COMMITTED, *[Outcome.RESTATED] * 4]
    assert names.named("fenn") == names.named("F\u200benn") == ["Fenn"]


def test_case_c25_mentions_of_one_batch_see_each_other(names: Names) -> None:
    found = resolution.resolve_all(principal=names.anna, mentions=[Mention(name=name, kind="person") for name in FENN])
    assert [(entry.is_new, entry.same_as) for entry in found] == [(True, None), *[(True, 0)] * 4]
    assert [entry.name for entry in found] == FENN
    emoji = resolution.resolve_all(
        principal=names.anna, mentions=[Mention(name="\U0001f33f"), Mention(name="\U0001f98a")]
    )
    assert [entry.same_as for entry in emoji] == [None, None]


def test_case_c26_letters_that_fold_differently_are_found_again(names: Names) -> None:
    def hear(_turn: int) -> Outcome:
        try:
            return names.tell(meets("\u0130stanbul", "place"))[0].outcome
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(hear, range(2))) == [Outcome.COMMITTED, Outcome.RESTATED]
    results = names.tell(
        meets("istanbul", "place", hint="a"),
        meets("STRASSENAMT", "organisation", hint="b"),
        meets("Stra\u00dfenamt", "organisation", hint="c"),
    )
    assert [result.outcome for result in results] == [Outcome.RESTATED, Outcome.COMMITTED, Outcome.RESTATED]
    assert names.resolve("ISTANBUL").step is Step.EXACT


def test_case_c27_composed_and_decomposed_letters_are_one_name(names: Names) -> None:
    (first,) = names.tell(meets("M\u00fcller KG", "organisation"))
    again, fact = names.tell(meets("Mu\u0308ller KG", "organisation"), says("x", "url", "https://mueller.example"))
    assert (again.entity_id, fact.outcome) == (first.entity_id, Outcome.COMMITTED)
    assert names.named("M\u00fcller KG") == names.named("Mu\u0308ller KG") == ["M\u00fcller KG"]
    read = names.resolve("Mueller KG")
    assert (read.entity_id, read.step) == (first.entity_id, Step.SPELLING)


def test_case_c29_a_name_beats_an_alias_and_a_shared_alias_is_asked_about(names: Names) -> None:
    linde = names.meet("Linde", "organisation")
    names.meet("Linde Nord", "organisation", "Linde")
    station = names.meet("Hauptbahnhof", "place", "HB")
    heating = names.meet("Heizungsbau Brandt", "organisation", "HB")
    assert names.resolve("Linde").entity_id == linde
    unclear = names.resolve("HB")
    assert unclear.needs_clarification
    assert [candidate.id for candidate in unclear.candidates] == [heating, station]
    assert unclear.question == "Heizungsbau Brandt oder Hauptbahnhof?"
    (result,) = names.tell(says("HB", "note", "hat angerufen"), who=names.curator)
    assert (result.outcome, result.reason) == (Outcome.PENDING, "ambiguous")
    assert {candidate.id for candidate in names.waiting().candidates} == {station, heating}
    assert names.known(station, "note") == names.known(heating, "note") == []


def test_a_question_is_answered_with_the_one_who_is_meant(names: Names) -> None:
    _one, augsburg = two_julias(names)
    (result,) = names.tell(says("Julia", "likes", "Jazz"))
    assert result.outcome is Outcome.PENDING
    item = names.waiting()
    assert (item.kind, item.statement) == ("question", "Julia mag Jazz")
    assert item.question == "Julia aus Nürnberg oder Julia aus Augsburg?"
    with pytest.raises(Problem, match="choice_required"):
        names.answer(None)
    with pytest.raises(Problem, match="not_a_candidate"):
        names.answer(UUID(int=1))
    assert names.answer(augsburg).outcome is Outcome.COMMITTED
    assert names.known(augsburg, "likes") == ["Jazz"]
    assert proposals.list_proposals(principal=names.anna) == ()


def test_a_hint_for_an_unclear_name_asks_where_it_is_used(names: Names) -> None:
    one, _other = two_julias(names)
    met, said = names.tell(meets("Julia"), says("x", "likes", "Jazz"))
    assert (met.outcome, said.outcome) == (Outcome.PENDING, Outcome.PENDING)
    assert names.answer(one).outcome is Outcome.COMMITTED
    (alone,) = names.tell(meets("Julia"))
    assert (alone.outcome, alone.code) == (Outcome.REJECTED, "ambiguous_reference")


def test_two_unclear_names_are_asked_about_one_after_the_other(names: Names) -> None:
    one, _other = two_julias(names)
    paul, _namesake = names.meet("Paul"), names.meet("Paul")
    names.tell(relates("Julia", "knows", "Paul"))
    assert names.answer(one).outcome is Outcome.PENDING
    assert names.answer(paul).outcome is Outcome.COMMITTED
    assert names.known(one, "knows") == ["Paul"]


def test_a_question_that_was_declined_is_not_asked_again(names: Names) -> None:
    two_julias(names)
    names.tell(says("Julia", "likes", "Jazz"), who=names.curator)
    governance.reject_proposal(principal=names.anna, proposal_id=names.waiting().id)
    (again,) = names.tell(says("Julia", "likes", "Jazz"), who=names.curator)
    assert (again.outcome, again.code) == (Outcome.REJECTED, "suppressed")


def test_a_namesake_of_another_kind_is_not_meant(names: Names) -> None:
    cat = names.meet("Luna", "pet")
    names.meet("Luna", "place")
    (result,) = names.tell(says("Luna", "feeding_time_evening", "18:00"))
    assert (result.outcome, result.entity_id) == (Outcome.COMMITTED, cat)


def test_an_alias_means_whom_it_meant_when_it_was_said(names: Names) -> None:
    before, after = names.meet("Christian"), names.meet("Christine")
    names.tell(
        {"op": "add_alias", "entity_ref": str(before), "alias": "Chris", "valid_to": "2026-05-01"},
        {"op": "add_alias", "entity_ref": str(after), "alias": "Chris", "valid_from": "2026-05-01"},
    )
    april, june = names.tell(
        says("Chris", "likes", "Tee", observed_at="2026-04-10T12:00:00Z"),
        says("Chris", "likes", "Saft", observed_at="2026-06-10T12:00:00Z"),
    )
    assert (april.entity_id, june.entity_id) == (before, after)


def test_whoever_says_i_means_themselves(names: Names) -> None:
    (result,) = names.tell(says("ich", "likes", "Tee"))
    assert result.entity_id == entities.get_entity(principal=names.anna, ref="me").id
    assert names.resolve("mich").ref == entities.get_entity(principal=names.anna, ref="me").ref


def test_a_reader_finds_what_is_alike_and_is_told_so(names: Names) -> None:
    weber = names.meet("Katharina Weber")
    found = names.resolve("Katarina Weber")
    assert (found.entity_id, found.step) == (weber, Step.ALIKE)
    assert names.resolve("Paket 18").is_new
    names.meet("Paket 17", "object")
    assert names.resolve("Paket 18").entity_id is None
    (written,) = names.tell(says("Katarina Weber", "likes", "Tee"))
    assert (written.outcome, written.code) == (Outcome.REJECTED, "unknown_reference")


def test_case_c37_two_at_once_meet_one_person(names: Names) -> None:
    def hear(verb: str) -> list[OperationResult]:
        try:
            return names.tell(meets("Nils Hagen"), says("x", "note", verb))
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(hear, ["hat angerufen", "hat geschrieben"])
    assert first[0].entity_id == second[0].entity_id
    assert names.named("Nils Hagen") == ["Nils Hagen"]
    assert first[0].entity_id is not None
    assert sorted(names.known(first[0].entity_id, "note")) == ["hat angerufen", "hat geschrieben"]


def test_the_chat_asks_whom_a_message_means(names: Names, anna: User, page_for: Callable[[User], Client]) -> None:
    one, other = two_julias(names)
    chat = services.main_chat(principal=names.anna)
    services.post_message(principal=names.anna, chat_id=chat.id, text="Julia mag Jazz.")
    curate_now(principal=names.anna, chat_id=chat.id)
    while work.run_due():
        pass
    page = page_for(anna)
    shown = page.get("/").content.decode()
    assert "Julia aus Nürnberg oder Julia aus Augsburg?" in shown
    assert f'name="candidate" value="{one}"' in shown
    answer = page.post(reverse("proposal-accept", args=[names.waiting().id]), {"candidate": str(other)})
    assert answer.status_code == 302
    assert (names.known(one, "likes"), names.known(other, "likes")) == ([], ["Jazz"])
    assert 'name="candidate"' not in page.get("/").content.decode()
