"""The constants of ranking, each with where it comes from."""

from __future__ import annotations

from dataclasses import dataclass

# BM25 as in the literature: on short chats much smaller values look harmless, on long ones they cost a tenth.
SATURATION = 1.2
LENGTH_SHARE = 0.75
# The power of a word's rarity: above 1 a rare word counts for more than the common ones beside it together.
RARITY = 1.5

# What a turn hears of its neighbours in the conversation, by their distance in turns.
NEIGHBOURS = ((-1, 0.6), (1, 0.3), (-2, 0.3), (2, 0.2))
# A neighbour longer than this many lexemes counts in proportion less: it speaks of many things.
NEIGHBOUR_LENGTH = 15

# The best lexical score of a question is 1 only where it covers this share of what the question asks for;
# words nobody ever said leave the lexical voice weak.
COVERED = 0.7


# Words that stand in for another of at least so many letters: German compounds by their end ("Versicherung" finds
# "Krankenversicherung"), of which the rest must be a word too; by their beginning only for a word nobody used.
COMPOUND_HEAD = 4
COMPOUND_REST = 3
COMPOUNDS = 30
COMPOUND_OF_UNKNOWN = 0.8
COMPOUND_OF_KNOWN = 0.3
BEGINNING_OF_UNKNOWN = 0.5

# What counts the turns of somebody whom a question names second: "What did Tim tell Lena?" asks about Tim.
NAMED_SECOND = 0.4

# Candidates of each voice; of the best of them all, so many turns of the session on either side are read too.
CANDIDATES = 100
WIDENED = 50
AROUND = 2
# Nothing is found of a question without a word, time or person known here where even the nearest is less similar: of
# pairs of made-up words nearly all lie below. Of other models nobody has measured it.
FAR = {"use-multilingual-3": 0.3}
# Seeds of the walk through the graph, and how much nearness each step keeps.
SEEDS = 10
STEP = 0.5
WALKED = 60
# Where a question names a relation ("Tims Schwester"), so many facts are followed to whom it means.
RELATED = 100


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
    asks: float = -0.4
    short_question: float = -1.0
    answers: float = 2.0
    graph: float = 0.0


HYBRID = Weights(graph=1.0)
SEMANTIC = Weights(date=0.0, says_when=0.0, says_name=0.0)
KEYWORD = Weights(
    semantic=0.0,
    date=0.0,
    says_when=0.0,
    says_name=0.0,
    first_person=0.0,
    asks=0.0,
    short_question=0.0,
    answers=0.0,
)

# What counts against a candidate that no longer holds, and for it where what was is asked for; and against one
# that repeats another hit, by shared words.
ENDED = 2.0
EARLIER = 1.0
REPEATED = 1.5

# What is known of the repository at hand rises so much: more than to name a domain counts (`subject`, `graph`), as a
# question names that of the whole workspace with every word of its name; less than to be about what is asked.
OF_REPO = 3.6

# What has faded wholly (`memory_types.Rule.fading`) loses so much. Conversations do not fade: their age says nothing
# about whether they hold the answer.
FADED = 1.0
