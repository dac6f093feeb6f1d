"""Every text for people stands in both catalogues."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.extract import DEFAULT_KEYWORDS, extract
from babel.messages.pofile import read_po
from django.utils.translation.template import templatize

ROOT = Path(__file__).parents[2]
LANGUAGES = ("de", "en")
KEYWORDS = {
    **DEFAULT_KEYWORDS,
    "gettext_lazy": None,
    "gettext_noop": None,
    "pgettext": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
}

Key = tuple[str, str | None]


def catalogue(language: str) -> Catalog:
    with (ROOT / "locale" / language / "LC_MESSAGES" / "django.po").open("rb") as handle:
        return read_po(handle, locale=language)


def used() -> Iterator[tuple[Key, str]]:
    """(singular, context) of each text, and the file it stands in."""
    for folder in ("gedaechtnis", "curator", "integrations"):
        for path in (ROOT / folder).rglob("*.py"):
            yield from _texts(path, path.read_bytes())
    for path in (ROOT / "templates").rglob("*.html"):
        yield from _texts(path, templatize(path.read_text(encoding="utf-8")).encode())


def _texts(path: Path, source: bytes) -> Iterator[tuple[Key, str]]:
    for _line, message, _comments, context in extract("python", BytesIO(source), keywords=KEYWORDS):
        singular = message[0] if isinstance(message, tuple) else message
        yield (singular, context), str(path.relative_to(ROOT))


def texts_of(catalog: Catalog) -> dict[Key, tuple[str, ...]]:
    found: dict[Key, tuple[str, ...]] = {}
    for message in catalog:
        if not message.id:
            continue
        singular = message.id[0] if isinstance(message.id, tuple) else message.id
        said = message.string if isinstance(message.string, tuple) else (message.string,)
        found[singular, message.context] = () if message.fuzzy else said
    return found


def test_the_extraction_finds_texts_in_code_and_templates() -> None:
    files = {path for _key, path in used()}
    assert any(path.endswith(".html") for path in files)
    assert any(path.endswith(".py") for path in files)
    assert len({key for key, _path in used()}) > 150


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_is_translated(language: str) -> None:
    known = texts_of(catalogue(language))
    missing = {(key, path) for key, path in used() if not known.get(key) or not all(known[key])}
    assert missing == set()


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_translation_is_left_over(language: str) -> None:
    keys = {key for key, _path in used()}
    assert set(texts_of(catalogue(language))) - keys == set()
