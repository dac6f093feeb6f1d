"""Finding the chats in what a vendor hands out: a file, an archive, or a folder of them."""

from __future__ import annotations

import io
import json
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal
from zoneinfo import ZoneInfo

from gedaechtnis.chat.imports import chatgpt, claude, gemini, jsonl
from gedaechtnis.chat.imports.json_items import BrokenJson, items
from gedaechtnis.chat.imports.stream import Flaw, Item

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

Format = Literal["chatgpt", "claude", "gemini", "jsonl"]
FORMATS: tuple[Format, ...] = ("chatgpt", "claude", "gemini", "jsonl")

_PARSERS: dict[Format, Any] = {"chatgpt": chatgpt, "claude": claude, "gemini": gemini}
_LINES = (".jsonl", ".ndjson")
_READ = (".json", *_LINES)
MAX_UNPACKED_BYTES = 4 << 30
"""So much may an archive that is sent hold in files to be read: a few kilobytes can unpack to terabytes."""
_PEEKED = 50
_Opener = Callable[[], AbstractContextManager[IO[bytes]]]
_DIGITS = re.compile(r"(\d+)")
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError,
    NotImplementedError, RuntimeError,  # packed in a way that is not known, locked with a password
)  # fmt: skip
"""What the standard library says of archives that are broken, or that it cannot read."""


class UnreadableFile(Exception):
    """Nothing can be taken from the whole of what was given; `code` says why."""

    def __init__(self, code: str, name: str) -> None:
        super().__init__(f"{name}: {code}")
        self.code, self.name = code, name


@dataclass(frozen=True, slots=True)
class _File:
    name: str
    open: _Opener


@dataclass(kw_only=True)
class ChatFiles:
    """The chats of one import. `passed_over` are files that hold none (settings, pictures): known once all was read."""

    zone: ZoneInfo
    format: Format | None = None
    passed_over: list[str] = field(default_factory=list)
    _files: list[_File]
    _archives: ExitStack

    @classmethod
    def at(cls, path: Path, *, zone: ZoneInfo, format: Format | None = None) -> ChatFiles:
        """A file, an archive or a folder on disk.

        Raises:
            OSError: it cannot be opened.
            UnreadableFile: `broken_archive`.
        """
        read = cls(zone=zone, format=format, _files=[], _archives=ExitStack())
        if path.is_dir():
            for inner in sorted((inner for inner in path.rglob("*") if inner.is_file()), key=_natural):
                read._add(inner.relative_to(path).as_posix(), _opener(inner), inner)
        else:
            read._add(path.name, _opener(path), path)
        return read

    @classmethod
    def in_upload(cls, file: IO[bytes], name: str, *, zone: ZoneInfo, format: Format | None = None) -> ChatFiles:
        """What was sent as one file, which can be read repeatedly.

        Raises:
            UnreadableFile: `broken_archive`, `too_large`.
        """

        def again() -> AbstractContextManager[IO[bytes]]:
            file.seek(0)
            return nullcontext(file)

        read = cls(zone=zone, format=format, _files=[], _archives=ExitStack())
        read._add(name, again, file, most=MAX_UNPACKED_BYTES)
        return read

    def __iter__(self) -> Iterator[Item]:
        """Chats and flaws, file by file.

        Raises:
            UnreadableFile: `no_chats` where no file holds any, `other_format` where it is not of the format named.
        """
        alone = len(self._files) == 1
        found = False
        with self._archives:
            for file in self._files:
                format = self._format_of(file, alone=alone)
                if format is None:
                    self.passed_over.append(file.name)
                    continue
                found = True
                yield from self._read(file, format)
        if not found:
            raise UnreadableFile("no_chats", self._files[0].name if alone else "")

    def _add(self, name: str, opened: _Opener, whole: Path | IO[bytes], *, most: int | None = None) -> None:
        if not zipfile.is_zipfile(whole):
            self._files.append(_File(name, opened))
            return
        try:
            archive = self._archives.enter_context(zipfile.ZipFile(whole))
        except _DAMAGE as error:
            raise UnreadableFile("broken_archive", name) from error
        members = [info for info in archive.infolist() if not info.is_dir()]
        # No more than the size stated here is ever unpacked of a file.
        if most is not None and sum(info.file_size for info in members if _may_hold_chats(info.filename)) > most:
            raise UnreadableFile("too_large", name)
        for info in sorted(members, key=lambda info: _natural(Path(info.filename))):
            self._files.append(_File(info.filename, partial(_member, archive, info)))

    def _format_of(self, file: _File, *, alone: bool) -> Format | None:
        """The format a file is read in; None for one that holds no chats."""
        if not alone and not _may_hold_chats(file.name):
            return None
        seen = _recognised(file)
        if alone and seen is None:
            return self.format
        if alone and self.format and seen != self.format:
            raise UnreadableFile("other_format", file.name)
        return seen if self.format in {None, seen} else None

    def _read(self, file: _File, format: Format) -> Iterator[Item]:
        try:
            with file.open() as opened:
                if format == "jsonl":
                    yield from jsonl.chats(opened, name=file.name, zone=self.zone)
                else:
                    yield from _PARSERS[format].chats(items(opened), file=file.name, zone=self.zone)
        except BrokenJson as error:
            yield Flaw(file=file.name, unit="entry", number=error.number, reason=error.reason)
        except zipfile.BadZipFile:
            yield Flaw(file=file.name, unit="file", number=1, reason="broken_archive")


class _Member(io.RawIOBase):
    """A file of an archive. Its damage shows while it is read, as `BadZipFile` whatever it is."""

    def __init__(self, packed: IO[bytes]) -> None:
        self._packed = packed

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        room = memoryview(buffer)
        try:
            read = self._packed.read(len(room))
        except _DAMAGE as error:
            raise zipfile.BadZipFile from error
        room[: len(read)] = read
        return len(read)


@contextmanager
def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[IO[bytes]]:
    try:
        packed = archive.open(info)
    except _DAMAGE as error:
        raise zipfile.BadZipFile from error
    with packed, io.BufferedReader(_Member(packed)) as unpacked:
        yield unpacked


def _may_hold_chats(name: str) -> bool:
    return name.lower().endswith(_READ)


def _recognised(file: _File) -> Format | None:
    """Which format the first entries have."""
    try:
        with file.open() as opened:
            first = opened.readline(jsonl.MAX_LINE_BYTES)
        if jsonl.matches(_loaded(first)):
            return "jsonl"
        if file.name.lower().endswith(_LINES):
            return "jsonl" if _has_lines(file) else None
        with file.open() as opened:
            for _number, entry in islice(items(opened), _PEEKED):
                for format, parser in _PARSERS.items():
                    if parser.matches(entry):
                        return format
    except (BrokenJson, zipfile.BadZipFile):
        return None
    return None


def _has_lines(file: _File) -> bool:
    """Whether any of the first lines is a message, where the very first one is broken."""
    with file.open() as opened:
        return any(jsonl.matches(_loaded(line)) for line in islice(opened, _PEEKED))


def _loaded(line: bytes) -> Any:
    try:
        return json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None


def _opener(path: Path) -> _Opener:
    return lambda: path.open("rb")


def _natural(path: Path) -> list[Any]:
    """Sorts `conversations-2` before `conversations-10`."""
    return [int(piece) if piece.isdigit() else piece for piece in _DIGITS.split(path.as_posix())]
