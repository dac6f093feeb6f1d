"""Making, replacing, switching and taking back policies. What an agent asks for waits for a person, whatever it quotes.

Each function is one proposal to the committer, which is carried out, or decided by a person, as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import count

from django.utils.translation import gettext as _

from gedaechtnis.common import clock
from gedaechtnis.common.problems import Problem
from gedaechtnis.common.text import check_line, fold_space, name_key
from gedaechtnis.identity.principals import Principal
from gedaechtnis.knowledge import domains, grants
from gedaechtnis.knowledge.policies import GENERAL, ROLE, RULE
from gedaechtnis.memory import references
from gedaechtnis.memory.schemas import (
    AssertFact,
    Evidence,
    InvalidateFact,
    MemoryMutationProposal,
    MemoryType,
    Operation,
    OperationResult,
    Outcome,
    UpsertEntity,
)
from gedaechtnis.memory.services import governance
from gedaechtnis.memory.services.commit import commit_proposal
from gedaechtnis.memory.values import MAX_RULE
from gedaechtnis.memory.writing.session import org_of
from gedaechtnis.scoping import clocks
from gedaechtnis.scoping.context import Scope, scope
from gedaechtnis.world.models import Entity, Fact, OperationRecord, Proposal

MAX_ROLE, MAX_NAME = 100, 500
"""Characters."""
_NAME_WORDS, _NAME_LENGTH, _NAME_KEY_LENGTH = 6, 60, 200
_POLICY, _DOMAIN = "the policy", "the domain"
"""How the operations of one proposal name what they introduce."""
_CLOSING = " .!…?;:,"


def propose_policy(
    *,
    principal: Principal,
    rule: str,
    domain: str = GENERAL,
    repo: str | None = None,
    required_role: str | None = None,
    name: str | None = None,
    quote: str | None = None,
    message: str | None = None,
    reason: str | None = None,
    run_id: str | None = None,
    scope_ref: str | None = None,
) -> OperationResult:
    """A rule for all runs of a scope (the principal's default unless named): a person's holds at once.

    `required_role` is a hint for whom it is meant. `name` is made of the rule's first words where none is given.
    `quote` and `message` show the words it rests on. The same rule in the same domain (but for case, white space and
    closing punctuation) is restated, switched on again, or waits already.

    Raises:
        Problem: `empty_text`, `too_long`, `not_one_line`, `invisible_text`, `invalid_domain`, `invalid_repo`,
            `conflicting_fields`; `scope_denied` (403); `grant_denied` (403) for an agent whose role may not
            write in the domain; `suppressed` (409) if a person declined it; `run_id_reused`.
    """
    text = check_line(rule, field="rule", limit=MAX_RULE)
    role = check_line(required_role, field="required_role", limit=MAX_ROLE) if required_role else None
    called = check_line(name, field="name", limit=MAX_NAME) if name else _first_words(text)
    key = str(domains.parse(domain, repo=repo))
    with _changing(principal, scope_ref or principal.default_scope) as (opened, write):
        if done := _done_before(principal, write, run_id, text, key):
            return done
        grants.require_write(principal, write, key)
        if waiting := _waiting(write, text, key):
            if not principal.is_person:
                return OperationResult(op_index=0, outcome=Outcome.PENDING, proposal_id=waiting.pk, reason=waiting.why)
            accepted = _agreed(principal, waiting, reason)
            if role is None:
                return accepted
        operations: list[Operation] = []
        same = _same(write, text, key)
        if same is None:
            named = _free_name(opened, write, called)
            operations = [
                UpsertEntity(id_hint=_DOMAIN, kind="domain", canonical_name=key),
                UpsertEntity(id_hint=_POLICY, kind="policy", canonical_name=named),
            ]
        subject = _POLICY if same is None else str(same.subject_id)
        said = text if same is None else str(same.object_value)
        evidence = Evidence(text=quote, ref=message) if quote else None
        operations.append(_stated(subject, said, key, evidence=evidence, reason=reason))
        decisive = len(operations) - 1
        if role is not None:
            operations.append(
                AssertFact(subject_ref=subject, predicate=ROLE, object_value=role, memory_type=MemoryType.POLICY)
            )
        return _commit(principal, operations, write, run_id)[decisive]


def supersede_policy(
    *,
    principal: Principal,
    policy: str,
    rule: str,
    quote: str | None = None,
    message: str | None = None,
    reason: str | None = None,
    run_id: str | None = None,
) -> OperationResult:
    """Another rule in place of one, from now on; domain and role stay, and so does the history.

    `policy`: `fact:<id>` of any age, or the reference of a policy on which one rule stands.

    Raises:
        NotFound: missing and foreign alike.
        Problem: as `propose_policy`; `nothing_to_change`; `policy_exists` (409) where the domain has the rule already;
            `nothing_believed` (409) if the old one was taken back; `ambiguous_policy` (409).
    """
    text = check_line(rule, field="rule", limit=MAX_RULE)
    row = _find(principal, policy)
    key = row.domain or GENERAL
    with _changing(principal, row.scope_ref) as (_opened, write):
        if done := _done_before(principal, write, run_id, text, key):
            return done
        grants.require_write(principal, write, key)
        old = _latest(row)
        waiting = _waiting(write, text, key, replaces=str(old.pk))
        if waiting is not None and not principal.is_person:
            return OperationResult(op_index=0, outcome=Outcome.PENDING, proposal_id=waiting.pk, reason=waiting.why)
        if old.object_value == text:
            raise Problem("nothing_to_change", _("Nothing is different from before."), field="rule")
        same = _same(write, text, key)
        if same is not None and same.slot != old.slot and _holds(same):
            raise Problem(
                "policy_exists",
                _("The domain “%(domain)s” has this rule already.") % {"domain": key},
                409,
                "rule",
                {"fact_id": str(same.pk)},
            )
        if waiting is not None:
            return _agreed(principal, waiting, reason)
        operation = _stated(
            str(old.subject_id),
            text,
            key,
            evidence=Evidence(text=quote, ref=message) if quote else None,
            reason=reason,
            replaces=str(old.pk),
        )
        return _commit(principal, [operation], write, run_id)[0]


def set_active(*, principal: Principal, policy: str, active: bool, reason: str | None = None) -> OperationResult:
    """Switch a policy off, which ends it, or on, which states it again. Switched so already, nothing changes.

    Raises:
        NotFound: missing and foreign alike.
        Problem: `person_required` or `scope_denied` (403); `nothing_believed` (409) if it was taken back;
            `not_begun` (409) if it is to be switched off before it begins; `ambiguous_policy` (409).
    """
    _require_person(principal)
    row = _find(principal, policy)
    with _changing(principal, row.scope_ref) as (_opened, write):
        last = _latest(row)
        if not active and last.valid_from > _now(last):
            raise Problem("not_begun", _("This rule has not begun yet: take it back if it is not to."), 409, "policy")
        if _holds(last) == active:
            return OperationResult(op_index=0, outcome=Outcome.RESTATED, fact_id=last.pk)
        operation: Operation
        if active:
            operation = _stated(str(last.subject_id), str(last.object_value), last.domain or GENERAL, reason=reason)
        else:
            operation = InvalidateFact(target_fact_id=str(last.pk), mode="end", reason=reason)
        return _commit(principal, [operation], write)[0]


def retract_policy(*, principal: Principal, policy: str, reason: str | None = None) -> list[OperationResult]:
    """Take a policy back, with all times at which it was switched on: one result for each, the present first.

    Raises: as `set_active`.
    """
    _require_person(principal)
    row = _find(principal, policy)
    with _changing(principal, row.scope_ref) as (_opened, write):
        last = _latest(row)
        origins = dict.fromkeys([last.origin_fact_id, *(piece.origin_fact_id for piece in _believed(row))])
        operations: list[Operation] = [InvalidateFact(target_fact_id=str(id), reason=reason) for id in origins]
        return _commit(principal, operations, write)


def same_rule(one: str, other: str) -> bool:
    """Whether two texts are the same rule, but for case, white space and closing punctuation."""
    return _folded(one) == _folded(other)


def _folded(rule: str) -> str:
    return fold_space(rule).casefold().rstrip(_CLOSING)


@contextmanager
def _changing(principal: Principal, write: str) -> Iterator[tuple[Scope, str]]:
    """The scope for writing, its clock held: what is looked up stays so until it is written."""
    with scope(principal, write=write) as opened:
        clocks.lock([write])
        yield opened, write


def _agreed(principal: Principal, waiting: Proposal, reason: str | None) -> OperationResult:
    """What a person says who says what waits: they agree, also where what it built on has changed since."""
    try:
        return governance.accept_proposal(principal=principal, proposal_id=waiting.pk, reason=reason)
    except Problem as problem:
        if problem.code != "stale":
            raise
        return governance.accept_proposal(principal=principal, proposal_id=waiting.pk, reason=reason)


def _commit(
    principal: Principal, operations: Sequence[Operation], write: str, run_id: str | None = None
) -> list[OperationResult]:
    held = frozenset() if principal.is_person else frozenset(range(len(operations)))
    proposal = MemoryMutationProposal(run_id=run_id, operations=list(operations))
    return commit_proposal(principal=principal, proposal=proposal, scope_ref=write, review=held, together=True).results


def _stated(
    subject: str,
    rule: str,
    domain: str,
    *,
    evidence: Evidence | None = None,
    reason: str | None = None,
    replaces: str | None = None,
) -> AssertFact:
    return AssertFact(
        subject_ref=subject,
        predicate=RULE,
        object_value=rule,
        domain=domain,
        statement=f"[{domain}] {rule}",
        memory_type=MemoryType.POLICY,
        evidence=evidence,
        reason=reason,
        replaces_fact_id=replaces,
    )


def _require_person(principal: Principal) -> None:
    if not principal.is_person:
        raise Problem("person_required", _("Only a person can decide this."), 403)


def _find(principal: Principal, policy: str) -> Fact:
    """A row of a rule, of any age."""
    text = policy.strip().removeprefix("fact:")
    id = references.as_uuid(text)
    with scope(principal):
        row = Fact.objects.filter(pk=id, predicate=RULE, polarity=True).first() if id else None
        if row is not None:
            return row
        entity = references.look_up(text, scopes=principal.read_scopes)
        rows = _of_entity(entity) if entity is not None else []
    if not rows:
        raise references.not_found(policy, "policy")
    holding = [one for one in rows if _holds(one)] or rows
    if len({one.slot for one in holding}) > 1:
        raise Problem(
            "ambiguous_policy",
            _("Several rules stand on “%(ref)s”: name the one by its fact.") % {"ref": text[:80]},
            409,
            "policy",
            {"fact_ids": [str(one.pk) for one in holding]},
        )
    return holding[-1]


def _of_entity(entity: Entity) -> list[Fact]:
    rows = Fact.objects.believed().filter(subject=entity, predicate=RULE, polarity=True)
    return list(rows.order_by("valid_from", "id"))


def _believed(row: Fact) -> list[Fact]:
    """What is believed of the rule of a row, by the time it began; also where a merge has moved it."""
    rows = Fact.objects.believed().filter(
        scope_ref=row.scope_ref, subject_id=row.subject_id, predicate=RULE, object_key=row.object_key, slot=row.slot
    )
    found = list(rows.order_by("valid_from", "id"))
    if found:
        return found
    moved = Fact.objects.believed().filter(scope_ref=row.scope_ref, origin_fact_id=row.origin_fact_id).first()
    return _believed(moved) if moved is not None else []


def _latest(row: Fact) -> Fact:
    """The row that holds, or else the last one that did."""
    rows = _believed(row)
    if not rows:
        raise Problem("nothing_believed", _("This rule was taken back."), 409, "policy")
    return next((one for one in rows if _holds(one)), rows[-1])


def _now(row: Fact) -> datetime:
    return max(clock.now(), *clocks.committed([row.scope_ref]).values())


def _holds(row: Fact) -> bool:
    now = _now(row)
    return row.superseded_at is None and row.valid_from <= now and (row.valid_to is None or row.valid_to > now)


def _same(write: str, rule: str, key: str) -> Fact | None:
    """The same rule in the same domain of the scope, rather one that holds than one that was switched off."""
    rows = Fact.objects.believed().filter(scope_ref=write, predicate=RULE, polarity=True).order_by("valid_from", "id")
    found = [row for row in rows if (row.domain or GENERAL) == key and same_rule(str(row.object_value), rule)]
    return next((row for row in found if _holds(row)), found[-1] if found else None)


def _waiting(write: str, rule: str, key: str, *, replaces: str | None = None) -> Proposal | None:
    """The same rule, proposed for the same domain, in place of the same one or of none, and not decided yet."""
    held = Proposal.objects.filter(scope_ref=write, state=Proposal.State.OPEN, operation__predicate=RULE)
    for proposal in held.order_by("recorded_at", "op_index"):
        said = proposal.operation
        is_same = (said.get("domain") or GENERAL) == key and same_rule(str(said["object_value"]), rule)
        if is_same and said.get("replaces_fact_id") == replaces:
            return proposal
    return None


def _done_before(
    principal: Principal, write: str, run_id: str | None, rule: str, domain: str
) -> OperationResult | None:
    """What the same run did with the same rule. The name of a new policy depends on those there are, so that a second
    attempt would not be the same proposal.

    Raises:
        Problem: `run_id_reused` (409) if the run was about something else.
    """
    if run_id is None:
        return None
    records = OperationRecord.objects.filter(scope_ref=write, principal=principal.acted_by, run_id=run_id)
    results = [OperationResult.model_validate(record.result) for record in records.order_by("op_index")]
    for result in results:
        if result.entity_ref != _DOMAIN and _is_about(result, rule, domain):
            return result.model_copy(update={"outcome": Outcome.DUPLICATE})
    if results:
        raise Problem(
            "run_id_reused",
            _("The run “%(run_id)s” was used before with other content.") % {"run_id": run_id[:80]},
            409,
            "run_id",
        )
    return None


def _is_about(result: OperationResult, rule: str, domain: str) -> bool:
    fact = Fact.objects.filter(pk=result.fact_id, predicate=RULE).first() if result.fact_id else None
    if fact is not None:
        return (fact.domain or GENERAL) == domain and same_rule(str(fact.object_value), rule)
    held = Proposal.objects.filter(pk=result.proposal_id).first() if result.proposal_id else None
    if held is None or held.operation.get("predicate") != RULE:
        return False
    said = held.operation
    return (said.get("domain") or GENERAL) == domain and same_rule(str(said["object_value"]), rule)


def _first_words(rule: str) -> str:
    name = " ".join([word for word in rule.split() if name_key(word)][:_NAME_WORDS])[:_NAME_LENGTH].strip(_CLOSING)
    while len(name_key(name)) > _NAME_KEY_LENGTH:  # one ligature stands for up to eighteen letters
        name = name[: len(name) // 2]
    return name


def _free_name(opened: Scope, write: str, wanted: str) -> str:
    """The name, with a number behind it where a policy bears it already, or would if a person agreed."""
    scopes = references.reach(write, org_id=org_of(write, opened), readable=opened.principal.read_scopes)
    held = Proposal.objects.filter(scope_ref=write, state=Proposal.State.OPEN, operation__predicate=RULE)
    waiting = {
        name_key(sketch["name"]) for sketches in held.values_list("entities", flat=True) for sketch in sketches.values()
    }
    names = (wanted if number == 1 else f"{wanted} ({number})" for number in count(1))
    return next(
        name
        for name in names
        if name_key(name) not in waiting and not references.bearing(name, scopes=scopes, kinds=("policy",))
    )
