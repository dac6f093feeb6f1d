"""The rules that go into every run of a workspace."""

from __future__ import annotations

from ninja import Query, Router

from gedaechtnis.api.auth import ApiRequest, chosen_scope
from gedaechtnis.api.schemas.common import IdempotencyKey, OptionalReason, WriteScope
from gedaechtnis.api.schemas.policies import PoliciesIn, PoliciesOut, PolicyIn, SupersedePolicyIn
from gedaechtnis.knowledge import policies, policy_changes
from gedaechtnis.knowledge.policies import Policies
from gedaechtnis.memory.schemas import OperationResult

router = Router(tags=["policies"])


@router.get("", response=PoliciesOut, summary="The rules of a workspace")
def list_policies(request: ApiRequest, filters: Query[PoliciesIn]) -> Policies:
    """All that hold in a run there, none left out: those of the repository at hand first, then by domain and age."""
    return policies.list_policies(principal=request.auth, **filters.model_dump())


@router.post("", response=OperationResult, summary="Propose a rule")
def propose_policy(
    request: ApiRequest, payload: PolicyIn, idempotency_key: IdempotencyKey, write_scope: WriteScope
) -> OperationResult:
    """A person's holds at once; an agent's waits for a person, as one proposal. An equal one is restated."""
    return policy_changes.propose_policy(
        principal=request.auth,
        scope_ref=chosen_scope(request.auth, write_scope),
        run_id=idempotency_key,
        **payload.model_dump(),
    )


@router.post("/{policy}/supersede", response=OperationResult, summary="Put another rule in place of one")
def supersede_policy(
    request: ApiRequest, policy: str, payload: SupersedePolicyIn, idempotency_key: IdempotencyKey
) -> OperationResult:
    """From now on; the old one stays in the history. `policy`: the id of its fact, or `policy:slug`."""
    return policy_changes.supersede_policy(
        principal=request.auth, policy=policy, run_id=idempotency_key, **payload.model_dump()
    )


@router.post("/{policy}/activate", response=OperationResult, summary="Switch a rule on")
def activate_policy(request: ApiRequest, policy: str, payload: OptionalReason) -> OperationResult:
    """A person's alone. On already, it is `restated`."""
    return policy_changes.set_active(principal=request.auth, policy=policy, active=True, reason=payload.reason)


@router.post("/{policy}/deactivate", response=OperationResult, summary="Switch a rule off")
def deactivate_policy(request: ApiRequest, policy: str, payload: OptionalReason) -> OperationResult:
    """A person's alone. It ends now, and can be switched on again."""
    return policy_changes.set_active(principal=request.auth, policy=policy, active=False, reason=payload.reason)


@router.delete("/{policy}", response=OperationResult, summary="Take a rule back")
def retract_policy(request: ApiRequest, policy: str) -> OperationResult:
    """A person's alone: it counts as never having held; the history knows that it was believed."""
    return policy_changes.retract_policy(principal=request.auth, policy=policy)[0]
