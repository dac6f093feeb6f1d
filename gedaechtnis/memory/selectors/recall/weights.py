"""The constants of ranking, each with where it comes from."""

from __future__ import annotations

from dataclasses import dataclass

# BM25 as in the literature: on short chats much smaller values look harmless, on long ones they cost a tenth.
SATURATION = 1.2
LENGTH_SHARE = 0.75

# What a turn hears of its neighbours in the conversation, by their distance in turns.
NEIGHBOURS = ((-1, 0.6), (1, 0.3), (-2, 0.3), (2, 0.2))
# A neighbour longer than this many lexemes counts in proportion less: it speaks of many things.
NEIGHBOUR_LENGTH = 15

# The best lexical score of a question is 1 only where it covers this share of what the question asks for;
# words nobody ever said leave the lexical voice weak.
COVERED = 0.7


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each feature adds to the score of a candidate."""

    lexical: float = 4.0
    session: float = 1.5
    subject: float = 2.5
    semantic: float = 0.65
    date: float = 5.0
    says_when: float = 1.5
    says_name: float = 2.0
    first_person: float = 0.6
    short_question: float = -1.4
    graph: float = 0.0
