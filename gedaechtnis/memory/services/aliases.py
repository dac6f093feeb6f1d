"""Other names over time: given, ended, taken back. What was bound by a name before keeps its binding."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from django.utils.translation import gettext as _

from gedaechtnis.common.ids import uuid7
from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.principals import MAX_CLEARANCE, Principal, PrincipalKind
from gedaechtnis.memory import references
from gedaechtnis.memory.answers import AliasView
from gedaechtnis.memory.schemas import AddAlias, OperationResult, Source
from gedaechtnis.memory.selectors.aliases import alias_view
from gedaechtnis.memory.services.facts import commit_one
from gedaechtnis.memory.writing.repointing import copied_alias
from gedaechtnis.memory.writing.session import WriteSession
from gedaechtnis.scoping.context import scope
from gedaechtnis.world.models import EntityAlias

ALIAS_ENDED = "entity.alias_ended"
_MAY_END = frozenset({PrincipalKind.PERSON, PrincipalKind.INTEGRATION, PrincipalKind.SYSTEM})


def add_alias(
    *,
    principal: Principal,
    entity_id: UUID,
    alias: str,
    scope_ref: str,
    namespace: str = "name",
    valid_from: str | None = None,
    valid_to: str | None = None,
    run_id: str | None = None,
) -> OperationResult:
    """Give an entity a further name, for a time if bounds are named; `restated` if it bears it then already.

    Raises:
        Problem: `scope_denied` (403), `unknown_reference`, `empty_name`, `empty_interval`, `name_of_another` (409).
    """
    operation = AddAlias(
        entity_ref=str(entity_id), alias=alias, namespace=namespace, valid_from=valid_from, valid_to=valid_to
    )
    return commit_one(principal, operation, scope_ref, run_id)


def end_alias(
    *,
    principal: Principal,
    alias_id: UUID,
    mode: Literal["end", "retract"] = "end",
    at: datetime | None = None,
) -> AliasView | None:
    """The name is borne no longer from `at` on (now by default), or never was (`retract`).

    Answers what is left of it, None if nothing is.

    Raises:
        NotFound: missing and foreign alike.
        Problem: `person_required` (403); `already_ended` (409); `before_start` if it begins only at `at` or later.
    """
    if principal.kind not in _MAY_END:
        raise Problem("person_required", _("Only a person can decide this."), 403)
    with scope(principal):
        found = EntityAlias.objects.filter(pk=alias_id).first()
    if found is None:
        raise references.not_found(str(alias_id))
    with scope(principal, write=found.scope_ref, clearance=MAX_CLEARANCE) as opened:
        session = WriteSession.begin(opened, run_id=f"alias-{uuid7()}")
        alias = EntityAlias.objects.select_related("entity").get(pk=alias_id)
        left = _end(session, alias, mode, at or session.ticks[0])
        session.finish()
    return alias_view(left, session.ticks[0]) if left else None


def _end(session: WriteSession, alias: EntityAlias, mode: str, at: datetime) -> EntityAlias | None:
    tick = session.ticks[0]
    if alias.superseded_at is not None or (mode == "end" and alias.valid_to is not None and alias.valid_to <= at):
        raise Problem("already_ended", _("This name was ended or taken back already."), 409)
    if mode == "end" and at <= alias.valid_from:
        raise Problem(
            "before_start",
            _("The name only begins later. To take it back altogether, use the mode “retract”."),
            field="at",
        )
    EntityAlias.objects.filter(pk=alias.pk).update(superseded_at=tick)
    left = None
    if mode == "end":
        (left,) = copied_alias(alias, entity=alias.entity, tick=tick)
        left.valid_to = at
        session.directory.named.append(left)
    session.level = alias.classification
    session.touched.add(alias.entity_id)
    session.add_event(
        id=uuid7(),
        event_type=ALIAS_ENDED,
        tick=tick,
        source=Source.USER_ASSERTION if session.principal.is_person else Source.SYSTEM_RULE,
        target_entity_id=alias.entity_id,
        payload={"closed_alias_ids": [str(alias.pk)], "alias_ids": [str(left.pk)] if left else []},
        summary=alias.alias,
    )
    return left
