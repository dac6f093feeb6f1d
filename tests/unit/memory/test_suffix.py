from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest
from django.utils import translation

from gedaechtnis.identity.principals import Principal, PrincipalKind
from gedaechtnis.memory.answers import FactView, ObjectView
from gedaechtnis.memory.suffix import dots, provenance_suffix, sign

OWN = "user:00000000-0000-0000-0000-000000000001"
FLAT = "group:00000000-0000-0000-0000-000000000002"
ID = UUID(int=7)
LEARNED = datetime(2026, 6, 8, 22, 30, tzinfo=UTC)  # already the ninth in Berlin

READER = Principal(
    kind=PrincipalKind.PERSON,
    acted_by=OWN,
    sub=UUID(int=1),
    read_scopes=(OWN, FLAT, "global"),
    write_scopes=frozenset({OWN}),
    default_scope=OWN,
    time_zone="Europe/Berlin",
    scope_names={FLAT: "WG\nSüd"},
)
FACT = FactView(
    id=ID,
    subject_id=ID,
    subject_ref="pet:luna",
    subject_scope=OWN,
    subject_label="Luna",
    predicate="species",
    predicate_label="is a",
    inverse_label="",
    polarity=True,
    object=ObjectView(kind="literal", value="cat", label="cat"),
    statement="Luna: cat",
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
    confidence=0.8,
    source="user_assertion",
    source_trust_tier="trusted",
    memory_type="user_assertion",
    rank=3,
    acted_by=OWN,
    scope_ref=OWN,
    applies_to_ref=None,
    domain="",
    topic="",
    supersedes_fact_id=None,
    closed_by_fact_id=None,
    closed_reason=None,
    origin_fact_id=ID,
    run_id=None,
    reason=None,
)
ENDED = datetime(2026, 7, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("fact", "english", "german"),
    [
        (FACT, "👤 9 Jun 26 · ●●●●○", "👤 09.06.26 · ●●●●○"),
        (replace(FACT, scope_ref=FLAT), "👤 9 Jun 26 · WG Süd · ●●●●○", "👤 09.06.26 · WG Süd · ●●●●○"),
        (
            replace(FACT, scope_ref="global", applies_to_ref="context:work", confidence=1.0),
            "👤 9 Jun 26 · everyone · for context:work · ●●●●●",
            "👤 09.06.26 · für alle · für context:work · ●●●●●",
        ),
        (
            replace(FACT, status="expired", valid_to=ENDED),
            "👤 9 Jun 26 · ●●●●○ · ended 1 Jul 26",
            "👤 09.06.26 · ●●●●○ · beendet 01.07.26",
        ),
        (
            replace(FACT, status="superseded", valid_to=ENDED),
            "👤 9 Jun 26 · ●●●●○ · superseded 1 Jul 26",
            "👤 09.06.26 · ●●●●○ · abgelöst 01.07.26",
        ),
        (
            replace(FACT, status="invalidated", superseded_at=ENDED),
            "👤 9 Jun 26 · ●●●●○ · withdrawn 1 Jul 26",
            "👤 09.06.26 · ●●●●○ · zurückgenommen 01.07.26",
        ),
    ],
)
def test_a_suffix_tells_source_day_scope_certainty_and_lifecycle(fact: FactView, english: str, german: str) -> None:
    for language, expected in (("en", english), ("de", german)):
        with translation.override(language):
            assert provenance_suffix(fact, principal=READER) == expected


@pytest.mark.parametrize(
    ("source", "acted_by", "expected"),
    [
        ("user_assertion", f"curator@{OWN}", "👤"),
        ("inference", f"agent:planner@{OWN}", "🤖"),
        ("assistant_output", f"agent:planner@{OWN}", "🤖"),
        ("tool_result", "integration:github", "🔌 github"),
        ("observation", f"agent:ci@{OWN}", "🔌 ci"),
        ("observation", OWN, "🔌"),
    ],
)
def test_the_sign_says_whose_word_it_is(source: str, acted_by: str, expected: str) -> None:
    assert sign(source=source, acted_by=acted_by) == expected


@pytest.mark.parametrize(
    ("confidence", "expected"), [(0.0, "●○○○○"), (0.5, "●●○○○"), (0.7, "●●●●○"), (1.0, "●●●●●"), (7.0, "●●●●●")]
)
def test_certainty_is_five_dots(confidence: float, expected: str) -> None:
    assert dots(confidence) == expected
