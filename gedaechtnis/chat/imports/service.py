"""Taking chats in: they wait in the database until work has written them, whatever stops in between."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from itertools import islice
from tempfile import SpooledTemporaryFile
from typing import IO, Any, cast
from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from gedaechtnis.chat import selectors, turns
from gedaechtnis.chat.answers import ChatFlaw, ImportProgress
from gedaechtnis.chat.imports import store
from gedaechtnis.chat.imports.files import FORMATS, MAX_UNPACKED_BYTES, ChatFiles, Format, UnreadableFile
from gedaechtnis.chat.imports.stream import Flaw, Item
from gedaechtnis.chat.models import Chat, ChatImport, ChatImportPiece
from gedaechtnis.common import clock
from gedaechtnis.common.ids import uuid7
from gedaechtnis.common.problems import NotFound, Problem
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import MAX_CLEARANCE, Principal, system
from gedaechtnis.memory.projecting import episodes
from gedaechtnis.scoping import work
from gedaechtnis.scoping.context import scope
from gedaechtnis.scoping.rows import insert

IMPORT_CHATS = "import_chats"
"""Kind of the work that writes an import's pieces and has the curator read its chats."""
PIECE_MESSAGES = 1000
LISTED_FLAWS = 1000
MAX_UPLOAD_BYTES = 512 << 20
_SENSITIVE = 3
_READ_BYTES = 1 << 20
_IN_MEMORY = 8 << 20


def as_format(name: str | None) -> Format | None:
    """The format of that name; None for none, which leaves it to be recognised.

    Raises:
        Problem: `unknown_format`.
    """
    if not name:
        return None
    found = next((known for known in FORMATS if known == name), None)
    if found is None:
        detail = _("There is no format “%(name)s”; there are: %(known)s.")
        raise Problem("unknown_format", detail % {"name": name[:60], "known": ", ".join(FORMATS)}, field="format")
    return found


def receive(*, principal: Principal, files: ChatFiles, learn: bool = False) -> ImportProgress:
    """Read all of the files and keep their chats for writing; nothing is kept if that fails.

    With `learn` the curator reads the chats afterwards, one after another.

    Raises:
        Problem: `person_required` (403) for an agent's token, or one that does not reach all of the person's memory;
            `scope_denied` (403); `no_chats`, `other_format`, `broken_archive`.
    """
    _check_person(principal)
    own = selectors.own_scope(principal)
    with scope(principal, write=own):
        made = ChatImport.objects.create(scope_ref=own, learn=learn, started_at=clock.now())
        try:
            _keep(made, files)
        except UnreadableFile as error:
            raise _unreadable(error) from error
        made.passed_over = files.passed_over[:LISTED_FLAWS]
        made.save()
        work.enqueue(
            kind=IMPORT_CHATS,
            scope_ref=own,
            dedupe_key=str(made.pk),
            object_id=made.pk,
            acting_sub=principal.sub,
            org_id=principal.org_id,
        )
    return _view(made)


def receive_upload(
    *, principal: Principal, file: IO[bytes], format: Format | None = None, learn: bool = False
) -> ImportProgress:
    """The same with one file that is being sent, of at most `MAX_UPLOAD_BYTES`.

    Raises:
        Problem: `too_large` (413), and those of `receive`.
    """
    _check_person(principal)
    with SpooledTemporaryFile(max_size=_IN_MEMORY) as kept:
        size = 0
        while piece := file.read(_READ_BYTES):
            size += len(piece)
            if size > MAX_UPLOAD_BYTES:
                detail = _("The file is larger than %(size)s MB; import it at the server (`import_chats`).")
                raise Problem("too_large", detail % {"size": MAX_UPLOAD_BYTES >> 20}, 413)
            kept.write(piece)
        try:
            files = ChatFiles.in_upload(cast(IO[bytes], kept), _("the file"), zone=principal.zone, format=format)
        except UnreadableFile as error:
            raise _unreadable(error) from error
        return receive(principal=principal, files=files, learn=learn)


def get_import(*, principal: Principal, import_id: UUID) -> ImportProgress:
    """How far an import is.

    Raises:
        NotFound: missing and foreign alike.
    """
    found = find_import(principal=principal, import_id=import_id)
    if found is None:
        raise NotFound(_("There is no such import."))
    return found


def find_import(*, principal: Principal, import_id: UUID) -> ImportProgress | None:
    """The import, if it is there for the principal."""
    with scope(principal):
        found = _own(principal).filter(pk=import_id).first()
    return _view(found) if found else None


def latest(*, principal: Principal) -> ImportProgress | None:
    """The import that was begun last, if there was any."""
    with scope(principal):
        found = _own(principal).order_by("-started_at").first()
    return _view(found) if found else None


def unfinished(*, principal: Principal) -> tuple[UUID, ...]:
    """Imports of the person that were stopped on their way, or are being written now."""
    with scope(principal):
        running = _own(principal).filter(state=ChatImport.State.RUNNING)
        return tuple(running.order_by("started_at").values_list("pk", flat=True))


def write(*, scope_ref: str, import_id: UUID) -> Iterator[ImportProgress]:
    """Write what waits, one piece a transaction, and yield how far it is; goes on where another one stopped."""
    while True:
        with scope(system(scope_ref, IMPORT_CHATS), write=scope_ref):
            waiting = ChatImport.objects.select_for_update().get(pk=import_id)
            if waiting.state == ChatImport.State.RUNNING and not _write_piece(waiting):
                waiting.state, waiting.ended_at = ChatImport.State.DONE, clock.now()
                waiting.save()
        yield _view(waiting)
        if waiting.state != ChatImport.State.RUNNING:
            return


def learn(*, user: User, import_id: UUID, org_id: UUID | None = None) -> Iterator[ImportProgress]:
    """Have the curator read the chats of a written import, the oldest first; goes on where another one stopped."""
    own = f"user:{user.sub}"
    worker = system(own, IMPORT_CHATS)
    while True:
        with scope(worker):
            done = ChatImport.objects.get(pk=import_id)
            brought = Chat.objects.filter(scope_ref=own, import_id=import_id).order_by("created_at", "pk")
            chat_id = next(iter(brought.values_list("pk", flat=True)[done.learned : done.learned + 1]), None)
        if chat_id is None or not done.learn:
            return
        turns.have_read(user=user, chat_id=chat_id, org_id=org_id)
        with scope(worker, write=own):
            # Of two that read side by side, one counts.
            ChatImport.objects.filter(pk=import_id, learned=done.learned).update(learned=done.learned + 1)
        done.learned += 1
        yield _view(done)


def register() -> None:
    work.handler(IMPORT_CHATS)(_go_on)


def _check_person(principal: Principal) -> None:
    if not principal.is_person or principal.clearance < MAX_CLEARANCE:
        raise Problem("person_required", _("Only a person can decide this."), 403)


def _go_on(item: work.WorkItem) -> None:
    """Work for a while, then ask to be called again."""
    if item.object_id is None:
        raise ValueError("an import's work names it")
    until = work.time_to_stop()
    steps = (
        write(scope_ref=item.scope_ref, import_id=item.object_id),
        learn(user=item.user(), import_id=item.object_id, org_id=item.org_id),
    )
    for step in steps:
        for _progress in step:
            if time.monotonic() > until:
                work.enqueue(
                    kind=IMPORT_CHATS,
                    scope_ref=item.scope_ref,
                    dedupe_key=item.dedupe_key,
                    object_id=item.object_id,
                    acting_sub=item.acting_sub,
                    org_id=item.org_id,
                )
                return


def _keep(made: ChatImport, items: Iterable[Item]) -> None:
    """Put chats aside in pieces of about as many messages."""
    waiting: list[dict[str, Any]] = []
    held = position = 0

    def keep() -> None:
        nonlocal held, position
        if waiting:
            piece = {"import_id": made.pk, "position": position, "chats": waiting}
            owned = {"id": uuid7(), "scope_ref": made.scope_ref, "classification": _SENSITIVE}
            insert(ChatImportPiece, [{**owned, **piece}])
            made.staged += held
        held, position = 0, position + 1
        waiting.clear()

    for item in items:
        if isinstance(item, Flaw):
            _note(made, [item])
            continue
        waiting.append(store.staged(item))
        held += len(item.messages)
        if held >= PIECE_MESSAGES:
            keep()
    keep()


def _write_piece(waiting: ChatImport) -> bool:
    """Write the next piece; False if there was none."""
    piece = ChatImportPiece.objects.filter(import_id=waiting.pk).order_by("position").first()
    if piece is None:
        return False
    target = store.Target(
        scope_ref=waiting.scope_ref,
        import_id=waiting.pk,
        zone=User.objects.get(sub=waiting.scope_ref.removeprefix("user:")).time_zone,
        learn=waiting.learn,
    )
    written = store.write(piece.chats, target)
    piece.delete()
    waiting.chats += written.chats
    waiting.messages += written.messages
    waiting.known += written.known
    _note(waiting, written.flaws)
    waiting.save()
    episodes.ask(waiting.scope_ref)
    return True


def _note(made: ChatImport, flaws: Iterable[Flaw]) -> None:
    """Count flaws; the first are listed."""
    listed = [[flaw.file, flaw.unit, flaw.number, flaw.reason] for flaw in flaws]
    made.flaw_count += len(listed)
    made.flaws.extend(islice(listed, max(0, LISTED_FLAWS - len(made.flaws))))


def _own(principal: Principal) -> QuerySet[ChatImport]:
    return ChatImport.objects.filter(scope_ref=selectors.own_scope(principal))


def _unreadable(error: UnreadableFile) -> Problem:
    if error.code == "too_large":
        detail = _("The archive “%(name)s” holds more than %(size)s GB; import it at the server (`import_chats`).")
        return Problem("too_large", detail % {"name": error.name, "size": MAX_UNPACKED_BYTES >> 30}, 413)
    details = {
        "no_chats": _("No chats were found. A chat export is an archive (.zip), a JSON file or JSON Lines."),
        "broken_archive": _("The archive “%(name)s” is damaged."),
        "other_format": _("“%(name)s” holds chats of another format than the one named."),
    }
    return Problem(error.code, details[error.code] % {"name": error.name})


def _view(found: ChatImport) -> ImportProgress:
    return ImportProgress(
        id=found.pk,
        state=found.state,
        learn=found.learn,
        staged=found.staged,
        chats=found.chats,
        messages=found.messages,
        known=found.known,
        learned=found.learned,
        broken=tuple(ChatFlaw(*flaw) for flaw in found.flaws),
        broken_count=found.flaw_count,
        passed_over=tuple(found.passed_over),
        started_at=found.started_at,
        ended_at=found.ended_at,
    )
