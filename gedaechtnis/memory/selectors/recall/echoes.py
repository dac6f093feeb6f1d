"""Who repeats a value: an answer, a friend, a file. Nothing is learned from them, so only the value itself tells.

Only values that mean themselves wherever they stand are recognised: numbers, codes, addresses. A town or a taste that
is no longer somebody's is named for a hundred other reasons.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable
from functools import lru_cache
from uuid import UUID

from django.db import connection

from gedaechtnis.memory.selectors.recall.records import Record
from gedaechtnis.scoping.context import current_scope

_WORD = re.compile(r"\w+")
_SHORTEST_CODE = 5
_SHORTEST_VALUE = 6
_MOST_WORDS = 100
_MOST_FACTS = 300

_SAYING = f"""
SELECT DISTINCT p.source_id FROM projection_terms t JOIN memory_projections p ON p.id = t.id
WHERE t.scope_ref = ANY (%s) AND t.lexeme = ANY (%s) AND p.source_kind = 'fact' LIMIT {_MOST_FACTS}
"""  # noqa: S608 (a number of ours)


def telling_words(messages: Iterable[Record]) -> list[str]:
    """The words of messages that may be a value, or a part of one."""
    words = {word for message in messages for word in message.lexemes if any(map(str.isdigit, word))}
    return sorted(sorted(words), key=len, reverse=True)[:_MOST_WORDS]


def facts_saying(words: Collection[str]) -> list[UUID]:
    """Facts that hold one of the longer of the words, also those believed no longer. In the open scope."""
    codes = [word for word in words if len(word) >= _SHORTEST_CODE]
    opened = current_scope()
    if not codes or opened is None:
        return []
    with connection.cursor() as cursor:
        cursor.execute(_SAYING, [list(opened.read), codes])
        return [id for (id,) in cursor.fetchall()]


def says(text: str, value: str) -> bool:
    """Whether a text tells a value, however it is spaced: its codes, or all of it where it has none."""
    marks = _marks(value)
    return bool(marks) and all(mark in _compact(text) for mark in marks)


@lru_cache(maxsize=1024)
def _marks(value: str) -> tuple[str, ...]:
    """By what a value is recognised; nothing for one that is an ordinary word."""
    words = _WORD.findall(_folded(value))
    codes = [word for word in words if len(word) >= _SHORTEST_CODE and any(char.isdigit() for char in word)]
    if codes:
        return tuple(codes)
    whole = "".join(words)
    is_code = sum(char.isdigit() for char in whole) >= _SHORTEST_CODE - 1 or "@" in value
    return (whole,) if is_code and len(whole) >= _SHORTEST_VALUE else ()


@lru_cache(maxsize=256)
def _compact(text: str) -> str:
    return "".join(_WORD.findall(_folded(text)))


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
