"""Taking an export in: its rows wait in the database until work has written them, whatever stops in between.

While that goes on nobody else writes in the scope. At the end it holds what the file held, with both times; an import
that is refused leaves the scope as new as it was.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import DataError, IntegrityError, connection, transaction
from django.db.models import F
from django.utils.translation import gettext as _

from gedaechtnis.common import clock
from gedaechtnis.common.ids import uuid7
from gedaechtnis.common.problems import NotFound, Problem
from gedaechtnis.identity import audit, principals
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import MAX_CLEARANCE, Principal, PrincipalKind, system
from gedaechtnis.memory import events
from gedaechtnis.memory.answers import ImportView
from gedaechtnis.memory.projecting import episodes, index
from gedaechtnis.memory.selectors.export import VOCABULARY, exported_models
from gedaechtnis.memory.services import people
from gedaechtnis.memory.transfer.archive_file import ArchiveFile, Row
from gedaechtnis.memory.transfer.renaming import Renaming
from gedaechtnis.memory.writing.session import org_of
from gedaechtnis.registry import catalogue
from gedaechtnis.registry.models import Predicate, State
from gedaechtnis.scoping import clocks, work
from gedaechtnis.scoping.context import Scope, scope
from gedaechtnis.scoping.models import ScopeClock, ScopedModel
from gedaechtnis.scoping.rows import insert
from gedaechtnis.world.models import Entity, EntityAlias, Fact, FactEvidence, Import, ImportPiece

IMPORT = "import"
"""Kind of the work that writes an import's pieces."""
PIECE_ROWS = 500
_PIECES_AT_ONCE = 8
_PER_TABLE = 10**9
_OF_A_NEW_SCOPE = {"entities": 1, "facts": 1, "fact_evidence": 1, "world_events": 1, "chats": 1}
"""Rows of the person themself, and a chat without messages."""
_SENSITIVE = 3


def receive(*, principal: Principal, file: IO[bytes], scope_ref: str, keep_ids: bool = False) -> ImportView:
    """Check a whole export and keep its rows for writing into a scope that holds nothing yet.

    Ids are kept where `keep_ids` says so or nobody else has a memory here, else made anew.

    Raises:
        Problem: `person_required` or `scope_denied` (403); `scope_not_empty` (409); `invalid_export`,
            `unknown_version`, `wrong_scope_kind`, `predicate_differs`.
    """
    if principal.kind not in {PrincipalKind.PERSON, PrincipalKind.SYSTEM} or principal.clearance < MAX_CLEARANCE:
        raise Problem("person_required", _("Only a person can decide this."), 403)
    archive = ArchiveFile.open(file)
    if archive.source_ref.partition(":")[0] != scope_ref.partition(":")[0]:
        raise Problem("wrong_scope_kind", _("The file holds a memory of another kind: a group's or a person's."))
    with scope(principal, write=scope_ref) as opened:
        clocks.lock([scope_ref])
        if not _is_new(scope_ref):
            raise Problem("scope_not_empty", _("An import needs an empty memory, and there is something here."), 409)
        _register(archive.predicates)
        made = Import.objects.create(
            scope_ref=scope_ref,
            org_id=org_of(scope_ref, opened),
            source_ref=archive.source_ref,
            keeps_ids=keep_ids or _is_alone(scope_ref),
            tick=archive.tick,
            rows=0,
            started_at=clock.now(),
        )
        ScopeClock.objects.filter(pk=scope_ref).update(state=ScopeClock.State.IMPORTING)
        _clear(scope_ref)
        _keep(made, archive)
        work.enqueue(kind=IMPORT, scope_ref=scope_ref, dedupe_key="", object_id=made.pk, acting_sub=principal.sub)
        audit.record(
            audit.Kind.IMPORTED,
            acted_by=principal.acted_by,
            sub=principal.sub,
            token_id=principal.token_id,
            scope=scope_ref,
            lines=str(made.rows),
        )
        return _view(made)


def get_import(*, principal: Principal, import_id: UUID) -> ImportView:
    """How far an import is.

    Raises:
        NotFound: missing and foreign alike.
    """
    with scope(principal):
        found = Import.objects.filter(pk=import_id).first()
    if found is None:
        raise NotFound(_("There is no such import."))
    return _view(found)


@work.handler(IMPORT)
def _write_all(item: work.WorkItem) -> None:
    if item.object_id is not None:
        for _view in write(scope_ref=item.scope_ref, import_id=item.object_id):
            pass


def write(*, scope_ref: str, import_id: UUID) -> Iterator[ImportView]:
    """Write what waits, some pieces a transaction, and yield how far it is; goes on where another one stopped."""
    while True:
        try:
            with _writing(scope_ref) as opened:
                waiting = Import.objects.select_for_update().get(pk=import_id)
                if waiting.state == Import.State.RUNNING and not _write_some(waiting, opened):
                    _end(waiting, Import.State.DONE)
        except (DataError, IntegrityError) as error:
            with _writing(scope_ref):
                waiting = Import.objects.select_for_update().get(pk=import_id)
                if waiting.state == Import.State.RUNNING:
                    _refuse(waiting, error)
        yield _view(waiting)
        if waiting.state != Import.State.RUNNING:
            return


@contextmanager
def _writing(scope_ref: str) -> Iterator[Scope]:
    """The scope as the import alone may write it: to everybody else it stays as it is until the transaction ends."""
    with transaction.atomic():
        clock_row = ScopeClock.objects.select_for_update(no_key=True).get(pk=scope_ref)
        importing = clock_row.state == ScopeClock.State.IMPORTING
        own = ScopeClock.objects.filter(pk=scope_ref)
        if importing:
            own.update(state=ScopeClock.State.OPEN)
        with scope(system(scope_ref, IMPORT), write=scope_ref) as opened:
            if importing:
                own.update(state=ScopeClock.State.IMPORTING)
            yield opened


def _is_new(scope_ref: str) -> bool:
    if Entity.objects.filter(scope_ref=scope_ref, is_self=False).exists():
        return False
    for model in exported_models():
        most = _OF_A_NEW_SCOPE.get(model._meta.db_table, 0)
        if model._default_manager.filter(scope_ref=scope_ref)[: most + 1].count() > most:
            return False
    return True


def _is_alone(scope_ref: str) -> bool:
    """Whether nobody else has written anything here, beyond being registered."""
    return not ScopeClock.objects.exclude(pk=scope_ref).filter(revision__gt=1).exists()


def _register(predicates: dict[str, dict[str, Any]]) -> None:
    """Make the file's predicates known, for review; facts of one that competes otherwise here would not fit."""
    terms = [
        Predicate(key=key, source=IMPORT, state=State.UNREVIEWED, **{name: term[name] for name in VOCABULARY})
        for key, term in predicates.items()
    ]
    known = _rules(predicates)
    new = [term for term in terms if term.key not in known]
    try:
        for term in new:
            term.full_clean(validate_unique=False, validate_constraints=False)
    except ValidationError as error:
        raise Problem("invalid_export", _("Line 1: a predicate cannot be read."), extra={"line": 1}) from error
    if new:
        Predicate.objects.bulk_create(new, ignore_conflicts=True)
        transaction.on_commit(catalogue.forget)
        known = _rules(predicates)
    for key, rules in predicates.items():
        if known.get(key) != {name: rules[name] for name in VOCABULARY}:
            detail = _("The predicate “%(key)s” is registered with other rules here.") % {"key": key[:60]}
            raise Problem("predicate_differs", detail, extra={"predicate": key[:60]})


def _rules(keys: Iterable[str]) -> dict[str, dict[str, Any]]:
    found = Predicate.objects.filter(key__in=list(keys))
    return {term.key: {name: getattr(term, name) for name in VOCABULARY} for term in found}


def _keep(made: Import, archive: ArchiveFile) -> None:
    """Put the rows aside in pieces, each of one table, in the order in which they can be written."""
    order = {model._meta.db_table: number for number, model in enumerate(exported_models())}
    pieces: dict[str, int] = defaultdict(int)
    rows: dict[str, list[Row]] = defaultdict(list)

    def keep(table: str) -> None:
        position = order[table] * _PER_TABLE + pieces[table]
        owned = {"scope_ref": made.scope_ref, "org_id": made.org_id, "classification": _SENSITIVE}
        piece = {"import_id": made.pk, "position": position, "table": table, "rows": rows.pop(table)}
        insert(ImportPiece, [{"id": uuid7(), **owned, **piece}])
        pieces[table] += 1

    for table, row in archive:
        rows[table].append(row)
        if len(rows[table]) == PIECE_ROWS:
            keep(table)
    for table in list(rows):
        keep(table)
    made.rows, made.tick = archive.counts.total(), archive.tick
    made.outside = sorted(str(id) for id in archive.outside)
    made.save()


def _write_some(waiting: Import, opened: Scope) -> bool:
    """Write the next pieces; False if there were none."""
    pieces = list(ImportPiece.objects.filter(import_id=waiting.pk).order_by("position")[:_PIECES_AT_ONCE])
    models = {model._meta.db_table: model for model in exported_models()}
    renaming = Renaming(
        key=waiting.pk,
        keeps_ids=waiting.keeps_ids,
        source_ref=waiting.source_ref,
        scope_ref=waiting.scope_ref,
        outside=frozenset(UUID(id) for id in waiting.outside),
    )
    unreadable = renaming.outside - _readable(waiting, renaming.outside) if pieces else frozenset()
    for piece in pieces:
        model = models[piece.table]
        rows = [renaming.row(model, row) for row in piece.rows]
        kept = _that_fit(model, rows, unreadable) if _has_an_owner(model, waiting) else []
        if len(kept) < len(rows):
            left_out = waiting.left_out.get(piece.table, 0) + len(rows) - len(kept)
            waiting.left_out = {**waiting.left_out, piece.table: left_out}
        owned = {"scope_ref": waiting.scope_ref, "org_id": waiting.org_id}
        insert(model, [{**row, **owned} for row in kept])
        waiting.rows_done += len(rows)
    ImportPiece.objects.filter(pk__in=[piece.pk for piece in pieces]).delete()
    waiting.save()
    return bool(pieces)


def _readable(waiting: Import, outside: frozenset[UUID]) -> frozenset[UUID]:
    """Those entities of other scopes that whoever the memory is for reads, and may name in it."""
    if not outside or not waiting.scope_ref.startswith("user:"):
        return frozenset()
    user = User.objects.get(sub=waiting.scope_ref.removeprefix("user:"))
    with scope(principals.person(user)):
        return frozenset(Entity.objects.filter(pk__in=outside).values_list("pk", flat=True))


def _has_an_owner(model: type[ScopedModel], waiting: Import) -> bool:
    """What was one person's alone is whose the memory is; in a group's it would be nobody's."""
    return not model.owned or waiting.scope_ref.startswith("user:")


def _that_fit(model: type[ScopedModel], rows: list[Row], unreadable: frozenset[UUID]) -> list[Row]:
    """Without statements and names of entities that are not here, and without the evidence of such statements."""
    if not unreadable:
        return rows
    if model is FactEvidence:
        facts = set(Fact.objects.filter(pk__in=[row["fact_id"] for row in rows]).values_list("pk", flat=True))
        return [row for row in rows if UUID(row["fact_id"]) in facts]
    names = {Fact: ("subject_id", "object_entity_id", "applies_to_id"), EntityAlias: ("entity_id",)}.get(model, ())
    return [row for row in rows if not any(row[name] and UUID(row[name]) in unreadable for name in names)]


def _end(waiting: Import, state: Import.State) -> None:
    """Open the scope again, its clock past all that came."""
    own = ScopeClock.objects.filter(pk=waiting.scope_ref)
    clocks.advance(waiting.scope_ref, waiting.tick)
    own.update(state=ScopeClock.State.OPEN, revision=F("revision") + 1)
    waiting.state, waiting.ended_at = state, clock.now()
    waiting.save()
    if waiting.scope_ref.startswith("user:"):
        people.ensure_self(user=User.objects.get(sub=waiting.scope_ref.removeprefix("user:")))
    index.ask(waiting.scope_ref)
    episodes.ask(waiting.scope_ref)
    events.publish_on_commit(waiting.scope_ref, events.MEMORY_COMMITTED, [])


def _refuse(waiting: Import, error: DataError | IntegrityError) -> None:
    _clear(waiting.scope_ref)
    waiting.problem = type(error).__name__
    waiting.rows_done, waiting.left_out = 0, {}
    _end(waiting, Import.State.REFUSED)


def _clear(scope_ref: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT world_clear_for_import(%s)", [scope_ref])


def _view(found: Import) -> ImportView:
    return ImportView(
        id=found.pk,
        state=found.state,
        scope_ref=found.scope_ref,
        keeps_ids=found.keeps_ids,
        rows=found.rows,
        rows_done=found.rows_done,
        left_out=found.left_out,
        problem=found.problem or None,
        started_at=found.started_at,
        ended_at=found.ended_at,
    )
