"""The words both languages use to mark what a sentence is: tables only, shared by prefilter, extractor, validator.

Every entry is a regular expression fragment that is matched as whole words, ignoring case.
"""

# ruff: noqa: E501 (a row of a table stays on one line)
from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Words:
    """One table: what to look for in German and in English."""

    de: tuple[str, ...]
    en: tuple[str, ...]

    def find(self, text: str, language: str | None = None) -> re.Match[str] | None:
        """The first whole-word occurrence, in one language or (None) in either."""
        return _compiled(self, language).search(text)

    def covers(self, text: str) -> bool:
        """Whether the text consists of nothing but these words, blanks, punctuation and emoji."""
        return not re.sub(r"[\W_]+", "", _compiled(self, None).sub(" ", text))


@lru_cache(maxsize=64)
def _compiled(table: Words, language: str | None) -> re.Pattern[str]:
    fragments = {"de": table.de, "en": table.en, None: table.de + table.en}[language]
    longest_first = sorted(fragments, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(longest_first)})(?!\w)", re.IGNORECASE)


FILLERS = Words(
    de=(
        r"danke(?:schön| dir| schön| sehr)?", "vielen dank", "dankesehr", "okay?", "oki?", "passt(?: so)?", "super",
        "toll", "prima", "klasse", "perfekt", "alles klar", "klar", "gut", "sehr gut", "schön", "ja", "jo", "jep",
        "nein", "nee", "nö", "genau", "stimmt", "richtig", "aha", "ach so", "achso", "hm+", "haha(?:ha)*", "hihi",
        "lol", "hallo", "hi", "hey", "moin", "guten (?:morgen|tag|abend)", "gute nacht", "tschüss?", "bis (?:bald|später|dann)",
        "bitte(?: schön)?", "gern(?:e|geschehen)?", "kein problem", "verstehe", "verstanden", "cool", "na gut", "weiter",
    ),
    en=(
        "thanks?(?: you| a lot| so much)?", "thank you(?: very much| so much)?", "thx", "ty", "ok", "k", "great", "nice",
        "perfect", "awesome", "sure", "fine", "good", "very good", "yes", "yep", "yeah", "no", "nope", "right",
        "exactly", "correct", "i see", "got it", "understood", "wow", "hello", "good (?:morning|evening|night)",
        "bye", "see you(?: later)?", "you're welcome", "no problem", "go on", "continue", "please", "sounds good",
        "all good", "alright", "all right", "makes sense",
    ),
)  # fmt: skip

EXPLICIT = Words(
    de=(
        "merk(?:e)? (?:dir|es dir|dir das|dir bitte)", "merk's dir", "merks dir", "merken", "notier(?:e)?(?: dir)?",
        "vergiss", "vergesse", "lösch(?:e|en)?", "korrigier(?:e|en)?", "denk(?:e)? (?:bitte )?daran", "denk dran",
    ),
    en=("remember", "note that", "keep in mind", "make a note", "forget", "delete", "don't forget"),
)  # fmt: skip

MARKERS = Words(
    de=(
        "immer", "nie", "niemals", "eigentlich", "ab jetzt", "ab sofort", "ab heute", "ab morgen", "von nun an",
        "künftig", "in zukunft", "stattdessen", "grundsätzlich", "nicht mehr", "kein(?:e|en|er|em)? .{1,40} mehr",
    ),
    en=(
        "from now on", "always", "never", "actually", "instead", "no longer", "not .{1,40} any ?more", "from tomorrow",
        "in future", "in the future", "as of today",
    ),
)  # fmt: skip

CORRECTIONS = Words(
    de=(
        "nicht .{1,60} sondern", "nein,? .{0,60}\\d", "(?:das )?stimmt (?:so )?nicht", "falsch", "das war falsch", "quatsch",
        "korrektur", "ich mein(?:e|te)", "verwechselt", "vertan", "geirrt",
    ),
    en=(
        "not .{1,60} but", "no,? .{0,60}\\d", "(?:that's|that is|that was) (?:wrong|not right|incorrect)", "wrong",
        "correction", "i meant", "i was wrong", "mixed up",
    ),
)  # fmt: skip

PREFERENCES = Words(
    de=(
        "bevorzug(?:e|t|en)", "lieber", "am liebsten", "lieblings\\w+", "bitte immer", "bitte nie", "regel:",
        "jede[nrsm]? (?:tag|morgen|abend|woche|monat|jahr|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)",
        "um (?:halb )?\\w+(?:[:.]\\d\\d)? uhr", "\\d{1,2}(?:[:.]\\d\\d)? uhr", "standardmäßig", "(?:montags|dienstags|"
        "mittwochs|donnerstags|freitags|samstags|sonntags|abends|morgens)", "mag", "liebe", "hasse",
    ),
    en=(
        "prefers?", "i(?:'d)? rather", "favou?rite", "please always", "please never", "rule:", "by default",
        "every (?:day|morning|evening|week|month|year|monday|tuesday|wednesday|thursday|friday|saturday|sunday)",
        "at \\d{1,2}(?::\\d\\d)?(?: ?[ap]\\.?m\\.?)?", "\\d{1,2} ?[ap]\\.?m\\.?", "on (?:mon|tues|wednes|thurs|fri|satur|sun)days",
        "likes?", "loves?", "hates?",
    ),
)  # fmt: skip

TASKS = Words(
    de=(
        "ich muss noch", "ich muss", "erinner(?:e)? mich", "deadline", "frist", "bis spätestens", "fällig",
        "wir haben .{0,80}(?:entschieden|beschlossen)", "haben wir .{0,80}(?:entschieden|beschlossen)",
        "beschluss:", "entscheidung:", "ich habe (?:mich )?(?:entschieden|beschlossen)", "zugesagt",
        "versprochen",
    ),
    en=(
        "i (?:still )?(?:have|need) to", "i must", "remind me", "deadline", "due", "we(?:'ve| have)?(?: \\w+)? decided",
        "we chose", "decision:",
        "i(?:'ve| have)? decided", "i promised", "we agreed",
    ),
)  # fmt: skip

RELATIONS = Words(
    de=(
        "ist", "sind", "bin", "war", "heiß(?:e|t|en)", "gehört", "wohn(?:e|t|en|te)", "leb(?:e|t|en|te)",
        "arbeit(?:e|et|en|ete)", "bekommt", "kriegt", "hat", "habe", "ess(?:e|en)", "isst", "trink(?:e|t|en)",
        "gezogen", "zieh(?:e|t|en)", "kennt?", "sprech(?:e|en)", "spricht", "verheiratet", "geboren", "nutz(?:e|t|en)",
    ),
    en=(
        "is", "are", "am", "i'm", "was", "'s", "belongs", "lives?", "living", "works?", "working", "gets?", "has",
        "have", "eats?", "drinks?", "moved", "moving", "knows?", "speaks?", "married", "born", "uses?", "called",
    ),
)  # fmt: skip

HEDGES = Words(
    de=(
        "vielleicht", "wahrscheinlich", "vermutlich", "möglicherweise", "eventuell", "angeblich", "anscheinend",
        "offenbar", "scheinbar", "wohl", "ich (?:glaube|denke|vermute|schätze|nehme an)", "glaube ich", "denke ich",
        "nicht sicher", "keine ahnung", "könnte sein", "kann sein", "ich weiß nicht",
    ),
    en=(
        "maybe", "perhaps", "probably", "possibly", "apparently", "supposedly", "allegedly", "presumably",
        "i (?:think|guess|suppose|believe|assume|suspect)", "not sure", "no idea", "might", "could be", "seems?",
        "i don't know", "i do not know",
    ),
)  # fmt: skip

HEARSAY = Words(
    de=(
        "(?!ich\\b)\\w+ (?:sagt|sagte|meint|meinte|behauptet|behauptete|erzählt|erzählte|schreibt|schrieb|glaubt|denkt|"
        "findet|fragt|fragte)", "(?:hat|haben) (?:\\w+ )?(?:gesagt|behauptet|erzählt|geschrieben|gemeint)",
        "(?:gesagt|behauptet|erzählt|geschrieben|gemeint|gehört|gelesen),? dass", "ich habe (?:gehört|gelesen)",
        "laut", "zufolge", "gerüchte?", "soll(?:en|te)?", "im film", "im buch", "in der serie", "im roman",
    ),
    en=(
        "(?!i\\b)\\w+ (?:says|said|claims|claimed|tells|told|thinks|thought|believes|wrote|writes|asked|mentioned)",
        "i(?:'ve| have)? (?:heard|read)", "according to", "rumou?r(?:s|ed)?", "in the (?:film|movie|book|novel|show|story)",
    ),
)  # fmt: skip

HYPOTHETICAL = Words(
    de=(
        "wenn", "falls", "würde(?:n|st)?", "hätte(?:n|st)?", "wäre(?:n|st)?", "könnte(?:n|st)?", "angenommen",
        "stell dir vor", "nehmen wir an", "hoffentlich", "ich wünschte", "zum beispiel", "z\\. ?b\\.", "als ob",
        "ob", "tu so", "beispielsweise", "rein theoretisch", "sofern",
    ),
    en=(
        "if", "would", "could", "imagine", "suppose", "let's say", "pretend", "hopefully", "i wish", "for example",
        "e\\.g\\.", "as if", "whether", "what if", "hypothetically", "in theory", "i'd", "unless",
    ),
)  # fmt: skip

JOKES = Words(
    de=("haha\\w*", "hihi", "scherz", "war nur spaß", "nur spaß", "kleiner spaß", "witz", "lol", "ironie", "zwinker"),
    en=("just kidding", "kidding", "joking", "joke", "jk", "lol", "haha\\w*", "lmao", "sarcasm", "/s"),
)
JOKE_SIGNS = "😂🤣😜😉🙃😆😅"

QUESTION_STARTS = Words(
    de=(
        "wer", "was", "wann", "wo", "wohin", "woher", "wie", "warum", "wieso", "weshalb", "welche[rsmn]?", "wem",
        "wen", "wessen", "wieviel", "(?:weißt|hast|kannst|bist|willst|magst|könntest|würdest|erinnerst|kennst|soll|darf|"
        "gibt|gab) (?:du|ich|es|dich)",
    ),
    en=(
        "who", "what", "when", "where", "how", "why", "which", "whose", "whom",
        "(?:do|did|does|can|could|will|would|are|is|was|have|has|should|shall|may) (?:you|i|we|he|she|it|they|there|my)",
    ),
)  # fmt: skip

_DETECT = Words(
    de=(
        "der", "die", "das", "und", "ist", "nicht", "ich", "mein", "meine", "meiner", "meinen", "bin", "hat", "habe",
        "mit", "um", "uhr", "ab", "seit", "bei", "ein", "eine", "einen", "auf", "von", "nach", "kein", "keine", "dass",
        "wohnt", "heißt", "immer", "nein", "sie", "er", "wir", "gern", "gerne", "mag", "isst", "bekommt", "morgen",
        "vergiss", "merk", "dir", "abends", "morgens", "zu", "im", "arbeitet", "nur", "sondern", "auch", "mehr",
    ),
    en=(
        "the", "is", "my", "and", "not", "has", "have", "at", "from", "since", "to", "of", "with", "a", "an", "i",
        "no", "lives", "works", "she", "he", "they", "we", "that", "on", "for", "always", "never", "please", "i'm",
        "likes", "gets", "it", "but", "tomorrow", "her", "his", "our", "remember", "forget", "moved", "pm", "does",
        "doesn't", "don't", "eats", "are", "actually", "isn't", "called", "are", "by", "any", "longer", "until",
    ),
)  # fmt: skip
_TOKEN = re.compile(r"[\w']+")


def language_of(text: str, default: str = "de") -> str:
    """`de` or `en`, by the small words of the text; `default` where they are even."""
    tokens = [token.lower() for token in _TOKEN.findall(text.replace("’", "'"))]
    german = sum(token in _DETECT.de for token in tokens) + bool(re.search("[äöüß]", text, re.IGNORECASE))
    english = sum(token in _DETECT.en for token in tokens)
    if german == english:
        return default
    return "de" if german > english else "en"
