"""The words of a question among the words in sight: how rare each is, and what stands in for one nobody used."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.db import connection

from gedaechtnis.memory.selectors.recall import spelling, weights
from gedaechtnis.scoping.context import current_scope

_LAST = "\U0010ffff"
"""Sorts behind every word: `word` up to `word + _LAST` are those that begin with it."""


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """The words of a question as they occur here.

    `forms`: word of the question → words of the index that count for it, and how much each. `idf`: its rarity.
    """

    forms: Mapping[str, Mapping[str, float]]
    idf: Mapping[str, float]
    mean_length: float
    terms_pending: bool
    vectors_pending: bool

    def counts(self, lexemes: Sequence[str], counts: Sequence[int]) -> dict[str, float]:
        """How often each word of the question occurs in a document with these words."""
        found: dict[str, float] = {}
        if self._terms.keys().isdisjoint(lexemes):
            return found
        for lexeme, count in zip(lexemes, counts, strict=True):
            if lexeme in self._terms:
                for term, share in self._terms[lexeme]:
                    found[term] = found.get(term, 0.0) + share * count
        return found

    @cached_property
    def _terms(self) -> Mapping[str, Sequence[tuple[str, float]]]:
        """Word of the index → words of the question that it counts for, and how much for each."""
        terms: dict[str, list[tuple[str, float]]] = {}
        for term, forms in self.forms.items():
            for form, share in forms.items():
                terms.setdefault(form, []).append((term, share))
        return terms


def look_up(terms: Sequence[str]) -> Vocabulary:
    """The words of a question in the open scope; five statements at most."""
    scopes = list(opened.read) if (opened := current_scope()) else []
    documents, mean_length, terms_pending, vectors_pending = _sizes(scopes)
    rows = _counted(scopes, terms)
    known = {term: count for term, form, count in rows if form == term}
    forms: dict[str, dict[str, float]] = {term: {term: 1.0} for term in terms}
    frequency: dict[str, float] = defaultdict(float, known)
    unknown = [term for term in terms if term not in known]
    for term, form, count in rows:
        if form != term and (share := _share(term, form, is_known=term in known)):
            forms[term][form] = share
            frequency[term] += share * count
    misspelt = [term for term in unknown if len(forms[term]) == 1 and _is_spelt(term)]
    swapped = spelling.swapped(misspelt)
    for other in (*swapped, *spelling.alike([term for term in misspelt if term not in {one.word for one in swapped}])):
        forms[other.word][other.lexeme] = other.likeness
        frequency[other.word] += other.documents
    return Vocabulary(
        forms=forms,
        idf={term: _idf(documents, frequency[term]) for term in terms},
        mean_length=mean_length,
        terms_pending=terms_pending,
        vectors_pending=vectors_pending,
    )


def _is_spelt(term: str) -> bool:
    """Whether it may be mistyped: of a number or an id nothing else is meant."""
    return len(term) >= weights.COMPOUND_HEAD and not any(char.isdigit() for char in term)


def _idf(documents: int, frequency: float) -> float:
    return math.pow(math.log(1 + (max(documents, frequency) - frequency + 0.5) / (frequency + 0.5)), weights.RARITY)


def _sizes(scopes: list[str]) -> tuple[int, float, bool, bool]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(sum(projections), 0), coalesce(sum(length), 0), "
            "EXISTS (SELECT FROM memory_projections WHERE scope_ref = ANY (%s) AND terms_pending), "
            "EXISTS (SELECT FROM memory_projections WHERE scope_ref = ANY (%s) AND vector_pending) "
            "FROM projection_counts WHERE scope_ref = ANY (%s)",
            [scopes, scopes, scopes],
        )
        documents, length, terms_pending, vectors_pending = cursor.fetchone()
    return int(documents), float(length) / max(1, int(documents)), terms_pending, vectors_pending


# The words themselves stand apart, as one list: word by word, the planner would look them up by their trigrams.
_COUNTED = """
SELECT lexeme, lexeme, sum(documents)::int FROM lexeme_counts
WHERE scope_ref = ANY (%(scopes)s) AND lexeme = ANY (%(terms)s) GROUP BY 1
UNION ALL
SELECT w.term, c.lexeme, sum(c.documents)::int
FROM unnest(%(terms)s::text[], %(backwards)s::text[], %(may_be_part)s::boolean[]) AS w (term, backwards, may_be_part)
CROSS JOIN LATERAL (
  (SELECT lexeme, documents FROM lexeme_counts
   WHERE w.may_be_part AND scope_ref = ANY (%(scopes)s)
     AND reversed > w.backwards COLLATE "C" AND reversed < (w.backwards || %(last)s) COLLATE "C" LIMIT %(most)s)
  UNION ALL
  (SELECT lexeme, documents FROM lexeme_counts
   WHERE w.may_be_part AND scope_ref = ANY (%(scopes)s) AND NOT starts_with(reversed, w.backwards)
     AND lexeme > w.term COLLATE "C" AND lexeme < (w.term || %(last)s) COLLATE "C" LIMIT %(most)s)
) c GROUP BY 1, 2
"""


def _counted(scopes: list[str], terms: Sequence[str]) -> list[tuple[str, str, int]]:
    """(word, itself or a longer word that ends or begins with it, documents that hold that)."""
    with connection.cursor() as cursor:
        cursor.execute(
            _COUNTED,
            {
                "terms": list(terms),
                "backwards": [term[::-1] for term in terms],
                "may_be_part": [len(term) >= weights.COMPOUND_HEAD for term in terms],
                "scopes": scopes,
                "last": _LAST,
                "most": weights.COMPOUNDS,
            },
        )
        return [(term, form, count) for term, form, count in cursor.fetchall()]


def _share(term: str, compound: str, *, is_known: bool) -> float:
    """What something is stands at the end of a German compound; what begins alike may be anything."""
    if len(compound) < len(term) + weights.COMPOUND_REST:
        return 0.0
    if compound.endswith(term):
        return weights.COMPOUND_OF_KNOWN if is_known else weights.COMPOUND_OF_UNKNOWN
    return 0.0 if is_known else weights.BEGINNING_OF_UNKNOWN
