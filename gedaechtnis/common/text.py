"""Text rules used everywhere: what may be stored, when two names are the same, how a slug is made."""

from __future__ import annotations

import re
import unicodedata

from django.utils.translation import gettext as _

from gedaechtnis.common.problems import Problem

MAX_LITERAL_BYTES = 64 * 1024
MAX_STATEMENT_CHARS = 8_000

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
# Default_Ignorable_Code_Point (Unicode, DerivedCoreProperties) beyond general category Cf.
_IGNORABLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]")
_GERMAN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})
_NOT_SLUG = re.compile(r"[^a-z0-9]+")


def check_text(text: str, *, field: str, limit: int = MAX_STATEMENT_CHARS) -> str:
    """Return `text` unchanged if PostgreSQL and every reader can hold it.

    Raises:
        Problem: `invalid_text` for NUL or lone surrogates, `too_long` above `limit` characters.
    """
    if "\x00" in text:
        raise Problem("invalid_text", _("The text contains a NUL character, which cannot be stored."), field=field)
    if _LONE_SURROGATE.search(text):
        raise Problem("invalid_text", _("The text contains half a character (a lone surrogate)."), field=field)
    if len(text) > limit:
        raise Problem(
            "too_long",
            _("The text has %(length)s characters; at most %(limit)s are allowed.")
            % {"length": len(text), "limit": limit},
            field=field,
        )
    return text


def fold_space(text: str) -> str:
    """NFC, trimmed, every run of white space as one blank."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def one_line(text: str) -> str:
    """Text of others as it may stand in a line of ours: nothing that breaks the line, turns it round or is unseen.

    Line ends of every kind become blanks; control, format and other invisible characters go.
    """
    seen = _IGNORABLE.sub("", " ".join(unicodedata.normalize("NFC", text).split()))
    if seen.isprintable():
        return seen
    return "".join(char for char in seen if unicodedata.category(char) not in {"Cc", "Cf", "Co", "Cs"})


def check_line(text: str, *, field: str, limit: int) -> str:
    """One line with folded white space, of which everything can be seen.

    Emoji keep the two invisible characters that make them one.

    Raises:
        Problem: `empty_text`, `not_one_line`, `invisible_text`, or as `check_text`.
    """
    line = fold_space(check_text(text, field=field, limit=limit))
    if len(text.strip().splitlines()) > 1:
        raise Problem("not_one_line", _("This takes one line of text."), field=field)
    seen = line.replace("\ufe0f", "").replace("\u200d", "")
    if one_line(seen) != seen:
        raise Problem("invisible_text", _("The text contains characters that nobody sees."), field=field)
    if not name_key(line):
        raise Problem("empty_text", _("The text is empty."), field=field)
    return line


def name_key(name: str) -> str:
    """The key under which two spellings are the same name.

    NFKC, case folded, invisible characters and decorating emoji removed, white space and
    punctuation folded. A name of nothing but emoji keeps them; "" only for an empty name.
    """
    # Folded, the Turkish dotted capital leaves a dot over the i that nobody types.
    folded = _IGNORABLE.sub("", unicodedata.normalize("NFKC", name).casefold().replace("i\u0307", "i"))
    folded = "".join(char for char in folded if unicodedata.category(char) != "Cf")
    plain = _fold(folded, emoji=False)
    return plain or _fold(folded, emoji=True)


def _fold(text: str, *, emoji: bool) -> str:
    kept = []
    for char in text:
        category = unicodedata.category(char)
        if category[0] in "LNM" or (emoji and category in {"So", "Sk"}):
            kept.append(char)
        elif category not in {"So", "Sk"}:
            kept.append(" ")
    return unicodedata.normalize("NFC", " ".join("".join(kept).split()))


def finding_keys(name: str) -> frozenset[str]:
    """Keys that find a name though it is spelt otherwise: umlauts as `ae` and bare, possessive endings off.

    For reading when unique; on a write they may only suggest.
    """
    keys = {name_key(name)}
    for possessive in ("'s", "’s", "s", "'", "’"):
        stem = name.strip().removesuffix(possessive)
        if stem != name.strip() and len(stem) > 2:
            keys.add(name_key(stem))
    for key in list(keys):
        keys.add(key.translate(_GERMAN))
        keys.add(_bare(key))
    return frozenset(key for key in keys if key)


def search_keys(text: str) -> tuple[str, ...]:
    """Keys to search by, what was typed first: its finding keys, and `ae`, `oe`, `ue` read as umlauts.

    Search compares without diacritics, so `ä` is found as `a` on either side. Empty for an empty text.
    """
    keys = finding_keys(text)
    keys |= {key.replace("ae", "a").replace("oe", "o").replace("ue", "u") for key in keys}
    return tuple(sorted(keys, key=lambda key: (key != name_key(text), key)))


def slugify(name: str) -> str:
    """Lower-case ASCII slug (`Nürnberg` → `nuernberg`); "" where nothing is left."""
    lowered = unicodedata.normalize("NFC", name).lower().translate(_GERMAN)
    return _NOT_SLUG.sub("-", _bare(lowered)).strip("-")[:80].rstrip("-")


def _bare(text: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
