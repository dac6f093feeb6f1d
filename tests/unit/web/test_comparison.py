from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from gedaechtnis.memory.answers import FactView, ObjectView
from gedaechtnis.web import comparison

LEARNED = datetime(2026, 1, 1, tzinfo=UTC)


def belief(predicate: str, value: Any, **changes: Any) -> FactView:
    """A fact of Anna's with that literal value."""
    id = uuid5(NAMESPACE_OID, f"{predicate} {value} {changes}")
    fact = FactView(
        id=id,
        subject_id=uuid5(NAMESPACE_OID, "anna"),
        subject_ref="person:anna",
        subject_scope="user:anna",
        subject_label="Anna",
        predicate=predicate,
        predicate_label=predicate.replace("_", " "),
        inverse_label="",
        polarity=True,
        object=ObjectView(kind="literal", value=value, label=str(value)),
        statement=f"Anna {predicate} {value}",
        status="active",
        valid_from=None,
        valid_to=None,
        valid_from_precision="unknown",
        valid_to_precision="instant",
        valid_from_stated=False,
        valid_to_stated=False,
        recorded_at=LEARNED,
        superseded_at=None,
        observed_at=None,
        learned_at=LEARNED,
        last_touched_at=LEARNED,
        confidence=1.0,
        source="user_assertion",
        source_trust_tier="person",
        memory_type="user_assertion",
        rank=3,
        acted_by="user:anna",
        scope_ref="user:anna",
        applies_to_ref=None,
        domain="",
        topic="",
        supersedes_fact_id=None,
        closed_by_fact_id=None,
        closed_reason=None,
        origin_fact_id=id,
        run_id=None,
        reason=None,
    )
    return replace(fact, **changes)


def test_today_differs_from_nothing() -> None:
    rows = comparison.rows([belief("lives_in", "Munich")])
    assert [row.differs for row in rows] == [False]


def test_one_value_replaced_by_one_is_told_in_one_line() -> None:
    then, now = belief("lives_in", "Nuremberg"), belief("lives_in", "Munich")
    (row,) = comparison.rows([then], [now])
    assert (row.fact, row.differs, row.today) == (then, True, now)


def test_the_same_value_in_another_row_does_not_differ() -> None:
    (row,) = comparison.rows([belief("lives_in", "Munich")], [belief("lives_in", "Munich", recorded_at=LEARNED)])
    assert not row.differs


def test_the_opposite_differs() -> None:
    (row,) = comparison.rows([belief("eats", "meat")], [belief("eats", "meat", polarity=False)])
    assert row.differs


def test_among_several_values_each_line_stands_for_itself() -> None:
    hiking, chess, tea = (belief("likes", value) for value in ("hiking", "chess", "tea"))
    rows = comparison.rows([hiking, chess], [chess, tea])
    assert [(row.fact, row.differs, row.today) for row in rows] == [
        (hiking, True, None),
        (chess, False, None),
        (None, True, tea),
    ]


def test_what_is_known_only_today_is_a_line_too() -> None:
    age = belief("age", 28)
    (row,) = comparison.rows([], [age])
    assert (row.fact, row.differs, row.today, row.predicate_label) == (None, True, age, "age")


def test_lines_of_one_predicate_stand_together() -> None:
    rows = comparison.rows([belief("likes", "tea"), belief("age", 28), belief("likes", "chess")])
    assert [(row.predicate_label, row.repeats_predicate) for row in rows] == [
        ("likes", False),
        ("likes", True),
        ("age", False),
    ]
