"""Rules of a workspace: what they take of each run, which are on, and those that wait for a word."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from gedaechtnis.common.problems import NotFound, Problem
from gedaechtnis.knowledge import domains, policies, policy_changes
from gedaechtnis.knowledge.policies import Policies, PolicyView
from gedaechtnis.memory.schemas import OperationResult
from gedaechtnis.memory.selectors.context import DEFAULT_BUDGET
from gedaechtnis.memory.values import MAX_RULE
from gedaechtnis.web import paging
from gedaechtnis.web.http import PersonRequest, done, only_posted, private, refused, safe_next, show, wants_fragment

PAGE = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A rule on the page; `key` names its place there, also after it was switched or worded anew."""

    key: str
    policy: PolicyView


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The rules of one domain on a page."""

    domain: domains.DomainKey
    rows: tuple[Row, ...]


@require_safe
@private
def index(request: PersonRequest) -> HttpResponse:
    """All rules by domain; as a fragment, all below the title."""
    return _page(request)


@only_posted
@private
def switch(request: PersonRequest, fact_id: UUID) -> HttpResponse:
    """On or off."""
    active = request.POST.get("active") == "1"
    message = _("The rule is on. Every run is told it.") if active else _("The rule is off. No run is told it.")

    def write() -> Sequence[OperationResult]:
        return [policy_changes.set_active(principal=request.principal, policy=f"fact:{fact_id}", active=active)]

    return _act(request, fact_id, write, message)


@only_posted
@private
def change(request: PersonRequest, fact_id: UUID) -> HttpResponse:
    """Another wording from now on."""
    rule = request.POST.get("rule", "")

    def write() -> Sequence[OperationResult]:
        return [policy_changes.supersede_policy(principal=request.principal, policy=f"fact:{fact_id}", rule=rule)]

    return _act(request, fact_id, write, _("Changed. From now on every run is told the new rule."))


@only_posted
@private
def retract(request: PersonRequest, fact_id: UUID) -> HttpResponse:
    """Take it back."""

    def write() -> Sequence[OperationResult]:
        return policy_changes.retract_policy(principal=request.principal, policy=f"fact:{fact_id}")

    return _act(request, fact_id, write, _("Taken back. The history still knows it."))


def _act(
    request: PersonRequest, fact_id: UUID, write: Callable[[], Sequence[OperationResult]], message: str
) -> HttpResponse:
    back = safe_next(request, reverse("policies"))
    try:
        results = write()
    except NotFound:
        raise
    except Problem as problem:
        if problem.field == "rule":
            return _again(request, fact_id, problem)
        return refused(request, problem, back=back, event="memory:committed")
    return done(request, back=back, message=message, undo=[result.event_id for result in results])


def _again(request: PersonRequest, fact_id: UUID, problem: Problem) -> HttpResponse:
    """The row again, as it was worded, with what is wrong."""
    form = {"faulty": fact_id, "problem": problem, "typed": request.POST.get("rule", "")}
    if not wants_fragment(request):
        return _page(request, **form)
    rows = _rows(policies.list_policies(principal=request.principal, include_inactive=True).items)
    row = next((row for row in rows if row.policy.id == fact_id), None)
    if row is None:
        return refused(request, problem, back=reverse("policies"), event="memory:committed")
    context = {"row": row, "next": safe_next(request, reverse("policies")), "limit": MAX_RULE, **form}
    response = render(request, "knowledge/_policy.html", context, status=422)
    response["HX-Retarget"] = f"#policy-{row.key}"
    response["HX-Reswap"] = "outerHTML"
    return response


def _page(request: PersonRequest, **form: Any) -> HttpResponse:
    place = request.GET.get("scope") or None
    if place:
        request.scopes.only(place)  # refused where it may not be read
    asked = {"scope": place, "domain": request.GET.get("domain"), "state": request.GET.get("state")}
    listed = policies.list_policies(principal=request.principal, scope_ref=place, include_inactive=True)
    rows = _rows(listed.items)
    chosen = [row for row in rows if _fits(row.policy, asked)]
    faulty = next((index for index, row in enumerate(chosen) if row.policy.id == form.get("faulty")), None)
    page = paging.asked_page(request.GET) if faulty is None else faulty // PAGE + 1
    shown, page, pages = paging.cut(chosen, page=page, size=PAGE)
    address = reverse("policies") + paging.address(asked, page=page if page > 1 else None)
    context = {
        "nav": "explorer",
        "tab": "policies",
        "asked": asked,
        "address": address,
        "next": address,
        "budget": _budget(listed),
        "questions": listed.waiting,
        "groups": tuple(_groups(shown)),
        "total": len(rows),
        "leaves": paging.leaves(asked, page=page, pages=pages),
        "chips": [(key, paging.address(asked, domain=str(key)), count) for key, count in _counts(rows)],
        "all_domains": paging.address(asked, domain=None),
        "states": [(one, paging.address(asked, state=one), one == (asked["state"] or "")) for one in ("", "on", "off")],
        "scopes": [(ref, words, paging.address(asked, scope=ref)) for ref, words in request.scopes.readable],
        "limit": MAX_RULE,
        "begun": _("Rule: "),
        "example": _("Rule: Answer in short sentences"),
        **form,
    }
    return show(request, "knowledge/policies.html", "policies", context, status=422 if form else 200)


def _budget(listed: Policies) -> dict[str, int]:
    """What the rules that are on take of what a run is told."""
    return {
        "on": sum(policy.is_active for policy in listed.items),
        "words": sum(len(policy.line.split()) for policy in listed.items if policy.is_active),
        "tokens": listed.tokens,
        "of": DEFAULT_BUDGET,
        "high": DEFAULT_BUDGET // 2,
        "percent": round(100 * listed.tokens / DEFAULT_BUDGET),
    }


def _rows(items: Iterable[PolicyView]) -> list[Row]:
    """All rules by domain, and by wording within it, so that none moves as it is switched."""
    rows, count = [], dict[UUID, int]()
    for policy in sorted(items, key=lambda one: (*_order(one.domain), one.rule.casefold(), one.id)):
        number = count[policy.entity_id] = count.get(policy.entity_id, 0) + 1
        rows.append(Row(key=f"{policy.entity_id}-{number}", policy=policy))
    return rows


def _order(domain: str) -> tuple[str, str]:
    key = domains.parse(domain)
    return key.repo or "", key.name


def _groups(rows: Iterable[Row]) -> Iterable[Group]:
    for domain, group in groupby(rows, key=lambda row: row.policy.domain):
        yield Group(domain=domains.parse(domain), rows=tuple(group))


def _counts(rows: Iterable[Row]) -> Iterable[tuple[domains.DomainKey, int]]:
    for domain, group in groupby(rows, key=lambda row: row.policy.domain):
        yield domains.parse(domain), sum(1 for _row in group)


def _fits(policy: PolicyView, asked: dict[str, str | None]) -> bool:
    if asked["domain"] and policy.domain != asked["domain"]:
        return False
    return asked["state"] not in ("on", "off") or policy.is_active == (asked["state"] == "on")
