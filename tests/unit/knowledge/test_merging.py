"""Which sentences are one: equal or nearly, and never two that differ in a detail."""

from __future__ import annotations

import time
from random import Random

import pytest

from gedaechtnis.knowledge.merging import merged

RATE, RATE_TOO = "The limit is 100 requests per minute.", "The rate limit is 100 requests per minute."


def near(*texts: str) -> dict[str, list[float]]:
    """As a model sees them that takes all for the same."""
    return {text: [1.0, 0.0] for text in texts}


def test_equal_ones_are_one_without_any_model() -> None:
    assert merged(["Ja, so.", "nein", "  ja, SO!", "„Ja, so“"], {}) == [[2, 3, 0], [1]]
    assert merged([], {}) == []


def test_near_ones_are_one_and_the_longest_stands_for_them() -> None:
    assert merged([RATE, RATE_TOO], near(RATE, RATE_TOO)) == [[1, 0]]
    assert merged([RATE, RATE_TOO], {RATE: [1.0, 0.0], RATE_TOO: [0.0, 1.0]}) == [[1], [0]]


def test_what_has_no_vector_is_compared_by_letters() -> None:
    turned = "100 requests per minute is the rate limit."
    assert merged([RATE_TOO, turned], {RATE_TOO: [1.0, 0.0]}) == [[0, 1]]
    assert merged([RATE_TOO, "Something else."], {RATE_TOO: [1.0, 0.0]}) == [[0], [1]]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Der Port ist 5432.", "Der Port ist 5433."),
        ("Der Cache wird geteilt.", "Der Cache wird nicht geteilt."),
        ("Am Montag wird gebaut.", "Am Dienstag wird gebaut."),
        ("Seit dem 3.5.2026 läuft es so.", "Seit dem 3.6.2026 läuft es so."),
        ("Um 2 Uhr läuft die Sicherung.", "Um 3 Uhr läuft die Sicherung."),
        ("Anna leitet das Team.", "Clara leitet das Team."),
        ("Das Archiv der Sicherungen liegt irgendwo außerhalb.", "Es liegt seit 2024 außerhalb."),
    ],
)
def test_a_detail_that_differs_or_is_missing_keeps_them_apart(one: str, other: str) -> None:
    assert len(merged([one, other], near(one, other))) == 2


def test_two_thousand_of_one_topic_take_seconds() -> None:
    random = Random(7)  # noqa: S311 (no secret)
    texts = [f"Der Dienst {number} schreibt nach Ablage {number * 3}." for number in range(2_000)]
    vectors = {text: [random.gauss(0, 0.06) for _dimension in range(256)] for text in texts}
    begun = time.process_time()
    assert len(merged(texts, vectors)) == 2_000
    assert time.process_time() - begun < 20, "seconds of the processor: measured 1"
