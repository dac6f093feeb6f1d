"""The text of a piece of HTML, with its paragraphs, lists and code."""

from __future__ import annotations

import re
from html.parser import HTMLParser

_SILENT = frozenset({"script", "style", "template", "head"})
_BLOCKS = frozenset(
    {"p", "div", "ul", "ol", "table", "pre", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "section"}
)
_BLANKS = re.compile(r"[ \t\r\n\f]+")


def text_of_html(html: str) -> str:
    """What a reader sees; links keep their address where it says more than their words."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    lines = [line.rstrip() for line in "".join(reader.pieces).split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._silent = 0
        self._preformatted = 0
        self._link = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _SILENT:
            self._silent += 1
        elif tag == "pre":
            self._preformatted += 1
        self._break(tag, opens=True)
        if tag == "a":
            self._link = dict(attrs).get("href") or ""
        elif tag == "img" and (alt := dict(attrs).get("alt")):
            self.pieces.append(f"[{alt}]")

    def handle_endtag(self, tag: str) -> None:
        if tag in _SILENT:
            self._silent = max(0, self._silent - 1)
        elif tag == "pre":
            self._preformatted = max(0, self._preformatted - 1)
        if tag == "a" and self._link.startswith(("http:", "https:")):
            if self._link not in "".join(self.pieces[-2:]):
                self.pieces.append(f" ({self._link})")
            self._link = ""
        self._break(tag, opens=False)

    def handle_data(self, data: str) -> None:
        if self._silent:
            return
        if self._preformatted:
            self.pieces.append(data)
            return
        words = _BLANKS.sub(" ", data)
        at_start = not self.pieces or self.pieces[-1].endswith("\n")
        self.pieces.append(words.lstrip() if at_start else words)

    def _break(self, tag: str, *, opens: bool) -> None:
        if tag in _BLOCKS:
            self.pieces.append("\n\n")
        elif tag == "br" and opens:
            self.pieces.append("\n")
        elif tag == "li" and opens:
            self.pieces.append("\n- ")
        elif tag == "tr":
            self.pieces.append("\n")
        elif tag in {"td", "th"} and not opens:
            self.pieces.append(" | ")
