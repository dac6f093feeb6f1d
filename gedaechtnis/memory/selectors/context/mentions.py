"""Which words of a message could be names: runs of words and the keys under which they may be stored."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

import simplemma
from django.utils.translation import get_language

from gedaechtnis.common.stopwords import ENGLISH, GERMAN
from gedaechtnis.common.text import name_key
from gedaechtnis.memory.references import FIRST_PERSON

LONGEST = 5
"""Words of the longest name."""
MOST_WORDS = 1000
"""Words of a message that are looked at; who writes more names the important things before."""
_FREELY_COMBINED = 40
"""In messages up to this length every run of words may be a name; in longer ones, runs that begin and end like one."""

_SHORTEST_FUZZY = 4
_SELF = FIRST_PERSON | {"mein", "meine", "meinem", "meinen", "meiner", "meines", "my", "mine"}
_WORD = re.compile(r"\w+(?:['’]\w+)?['’]?")
_REF = re.compile(r"(?<![\w:/.-])([a-z][\w-]*(?::[a-z][\w-]*)*):([a-z0-9][a-z0-9-]*)(?![\w/])")
_COMBINING = re.compile("[\u0300-\u036f]")
_SPELT_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
_POSSESSIVE = re.compile(r"(?:['’]s|['’]|s)$")
_DETERMINER_WORDS = """
der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner mein meine meinen meinem
meiner dein deine deinen deinem deiner sein seine seinen seinem seiner ihr ihre ihren ihrem ihrer unser unsere
unseren unserem unserer euer eure dieser diese dieses diesen diesem jeder jede jedes jeden jedem viele viel wenig
im am zum zur vom beim ins ans aufs the a an this that these those some any no every each my your his her its our
their
"""
_DETERMINERS = frozenset(_DETERMINER_WORDS.split())
_TITLES = frozenset({"herr", "herrn", "frau", "dr", "prof", "mr", "mrs", "ms", "miss", "onkel", "tante", "oma", "opa"})


@dataclass(frozen=True, slots=True)
class Mention:
    """A run of words `[start, end)` and the search keys of the names it could be, as written first."""

    start: int
    end: int
    text: str
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Message:
    """The words of a text, and what in it could name something."""

    words: tuple[str, ...]
    mentions: tuple[Mention, ...]
    refs: tuple[tuple[str, str], ...]
    """References that stand in the text: (kind, slug)."""
    says_self: bool
    _is_first: tuple[bool, ...]
    _is_german: bool

    def tells_a_name(self, mention: Mention) -> bool:
        """Whether a word that is also an ordinary one is meant as a name here.

        It must have a capital. In German every noun has one, so there it must stand without an article before it; in
        English a capital tells something only within a sentence. After “Frau” or “Mr” anything is a name.
        """
        before = self.words[mention.start - 1].lower() if mention.start else ""
        if before in _TITLES:
            return True
        word = self.words[mention.start]
        if not word[:1].isupper() or before in _DETERMINERS:
            return False
        return self._is_german or not self._is_first[mention.start]

    def leftovers(self, taken: set[int]) -> list[str]:
        """Words with a capital that name nothing yet, and are none of the language."""
        return [
            word
            for place, word in enumerate(self.words)
            if place not in taken and len(word) >= _SHORTEST_FUZZY and word[:1].isupper() and not is_ordinary(word)
        ]


def read(text: str) -> Message:
    """What a message could speak of. Any text is fine."""
    found = []
    for match in _WORD.finditer(unicodedata.normalize("NFC", text)):
        found.append(match)
        if len(found) == MOST_WORDS:
            break
    source = found[0].string if found else ""
    words = tuple(match.group() for match in found)
    lowered = [word.lower() for word in words]
    return Message(
        words=words,
        mentions=tuple(_mentions(source, found)),
        refs=tuple(dict.fromkeys((kind, slug) for kind, slug in _REF.findall(source))),
        says_self=any(name_key(word) in _SELF for word in set(words)),
        _is_first=tuple(_begins_sentence(source, match.start()) for match in found),
        _is_german=_is_german(lowered),
    )


def _is_german(words: list[str]) -> bool:
    """By its stop words; where they do not tell, the reader's language."""
    german, english = sum(word in GERMAN for word in words), sum(word in ENGLISH for word in words)
    return german > english or (german == english and (get_language() or "").startswith("de"))


def is_stop_word(key: str) -> bool:
    return key in GERMAN or key in ENGLISH


def is_ordinary(word: str) -> bool:
    """Whether a dictionary has the word: then it is no misspelt name."""
    return any(simplemma.is_known(word, language) for language in ("de", "en"))


def _mentions(source: str, found: list[re.Match[str]]) -> Iterator[Mention]:
    keys = [name_key(match.group()) for match in found]
    is_stop = [is_stop_word(key) for key in keys]
    is_telling = [match.group()[0].isupper() or match.group()[0].isdigit() for match in found]
    is_short = len(found) <= _FREELY_COMBINED
    for start in range(len(found)):
        for end in range(start + 1, min(start + LONGEST, len(found)) + 1):
            if end - start == 1:
                if not keys[start] or (is_stop[start] and not is_telling[start]):
                    continue
            elif is_stop[end - 1] or not (is_short or (is_telling[start] and is_telling[end - 1])):
                continue
            text = source[found[start].start() : found[end - 1].end()]
            yield Mention(start, end, text, tuple(_search_keys(" ".join(filter(None, keys[start:end])), text)))


def _search_keys(key: str, text: str) -> list[str]:
    """Under what names like this are kept to be found (`search_key`), as written first.

    Umlauts are kept bare; who types `ae` for one means it too. Possessive endings may be off.
    """
    spellings = [key]
    if (stem := _POSSESSIVE.sub("", text)) != text and len(stem) > 2:
        spellings.append(name_key(stem))
    found: dict[str, None] = {}
    for spelling in spellings:
        if spelling.isascii():
            found[spelling] = None
        else:
            found[_COMBINING.sub("", unicodedata.normalize("NFD", spelling))] = None
            found[spelling.translate(_SPELT_OUT)] = None
        if "e" in spelling:
            found[spelling.replace("ae", "a").replace("oe", "o").replace("ue", "u")] = None
    return list(found)


def _begins_sentence(source: str, at: int) -> bool:
    before = source[:at].rstrip(' \t"“„»(')
    return not before or before[-1] in ".!?:\n"
