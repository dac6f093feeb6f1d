"""Reading the entries of a large JSON file one after another, without holding the whole of it."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from typing import IO, Any

_CHUNK = 1 << 20
MAX_ENTRY_CHARACTERS = 128 << 20
"""So long may one entry be, which is held in memory as a whole."""
_BLANK = " \t\r\n"
_LISTS = ("conversations", "chats", "items", "data")
"""Under which name a file that is one object may hold the list."""


class BrokenJson(Exception):
    """The file cannot be read on; `number` is the entry at which it ends, `reason` why."""

    def __init__(self, number: int, reason: str = "not_json") -> None:
        super().__init__(f"entry {number}: {reason}")
        self.number, self.reason = number, reason


class _TooLong(ValueError):
    """A value that goes on and on."""


def items(file: IO[bytes]) -> Iterator[tuple[int, Any]]:
    """The entries of a JSON array, counted from 1; of an object, those of the list it holds, or itself.

    Raises:
        BrokenJson: not JSON, or cut off; the entries before have been yielded.
    """
    text = _Text(file)
    start = text.next_mark()
    if start == "{":
        try:
            yield from enumerate(_listed(text.decode()), start=1)
        except ValueError as error:
            raise _broken(1, error) from error
        return
    if start != "[":
        raise BrokenJson(1)
    text.at += 1
    number = 1
    while (mark := text.next_mark()) != "]":
        if mark == ",":
            text.at += 1
            continue
        try:
            value = text.decode()
        except ValueError as error:
            raise _broken(number, error) from error
        yield number, value
        number += 1


def _broken(number: int, error: ValueError) -> BrokenJson:
    return BrokenJson(number, "too_long" if isinstance(error, _TooLong) else "not_json")


class _Text:
    """The decoded part of a file; `at` is where reading goes on."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
        self._json = json.JSONDecoder(parse_constant=lambda _name: None)
        self._held = ""
        self._is_all = False
        self.at = 0

    def next_mark(self) -> str:
        """The next character that is not blank; "" at the end."""
        while True:
            while self.at < len(self._held):
                if self._held[self.at] not in _BLANK:
                    return self._held[self.at]
                self.at += 1
            if self._is_all:
                return ""
            self._more(_CHUNK)

    def decode(self) -> Any:
        """The value that begins here. Each further try reads twice as much, so that long values stay cheap."""
        while True:
            try:
                value, self.at = self._json.raw_decode(self._held, self.at)
            except RecursionError as error:
                raise ValueError("nested too deep") from error
            except ValueError:
                if self._is_all:
                    raise
                if len(self._held) - self.at > MAX_ENTRY_CHARACTERS:
                    raise _TooLong from None
                self._more(max(_CHUNK, len(self._held) - self.at))
            else:
                return value

    def _more(self, size: int) -> None:
        read = self._file.read(size)
        self._is_all = not read
        self._held = self._held[self.at :] + self._decoder.decode(read, final=self._is_all)
        self.at = 0


def _listed(value: dict[str, Any]) -> list[Any]:
    found = next((value[name] for name in _LISTS if isinstance(value.get(name), list)), None)
    return [value] if found is None else found
