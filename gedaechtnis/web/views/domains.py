"""Sentences by domain and topic, and what agents may do in a domain."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from gedaechtnis.common.problems import Problem
from gedaechtnis.knowledge import domains, grants, statements
from gedaechtnis.knowledge.domains import DomainKey
from gedaechtnis.knowledge.grants import Grant, Permission
from gedaechtnis.knowledge.statements import Shelf, Whose
from gedaechtnis.memory.answers import FactView
from gedaechtnis.web import paging
from gedaechtnis.web.http import PersonRequest, act, only_posted, private, show

WHOSE = {
    Whose.MINE: gettext_lazy("mine"),
    Whose.OTHERS: gettext_lazy("other people’s"),
    Whose.AGENTS: gettext_lazy("agents’"),
    Whose.SOURCES: gettext_lazy("connected sources’"),
}
PERMISSIONS = {
    Permission.NONE: gettext_lazy("nothing: they are told to keep out of it, and may not propose rules"),
    Permission.READ: gettext_lazy("read: they use what stands here, and may not propose rules"),
    Permission.WRITE: gettext_lazy("read and write: they may propose rules, which a person decides about"),
}
"""What each lets an agent do, in words. Facts may always be proposed; nothing hides anything from search."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawer:
    """The sentences of one domain of a workspace on a page."""

    domain: str
    scope_ref: str
    facts: Sequence[FactView]

    @property
    def key(self) -> DomainKey:
        return domains.parse(self.domain)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What agents may do in the chosen domain of a workspace."""

    scope_ref: str
    is_led: bool
    grants: tuple[Grant, ...]


@require_safe
@private
def index(request: PersonRequest) -> HttpResponse:
    """Sentences, narrowed by the address; as a fragment, what was found."""
    return _page(request)


@only_posted
@private
def grant(request: PersonRequest) -> HttpResponse:
    """Let agents of a role do more or less in a domain; an empty permission takes the grant back."""
    domain, place = request.POST.get("domain", ""), request.POST.get("scope", "")
    back = reverse("domains") + paging.address({"domain": domain}) + "#grants"
    return act(
        request,
        lambda: grants.set_grant(
            principal=request.principal,
            scope_ref=place,
            domain=domain,
            agent_role=request.POST.get("agent_role", "").strip(),
            permission=request.POST.get("permission") or None,
        ),
        message=_("Saved."),
        back=back,
        again=lambda problem: _page(request, problem=problem, domain=domain, typed=request.POST),
    )


def _page(request: PersonRequest, **form: Any) -> HttpResponse:
    place = request.GET.get("scope") or None
    principal = request.scopes.only(place) if place else request.principal
    whose = next((one for one in Whose if one == request.GET.get("whose")), None)
    asked: dict[str, str | None] = {
        "q": request.GET.get("q", "").strip()[: statements.MAX_WORDS],
        "domain": form.get("domain") or request.GET.get("domain"),
        "repo": request.GET.get("repo"),
        "whose": whose,
        "scope": place,
    }
    problem: Problem | None = form.get("problem")
    shelves = statements.list_shelves(principal=principal)
    try:
        found = statements.list_statements(
            principal=principal,
            domain=asked["domain"],
            repo=asked["repo"],
            whose=whose,
            words=asked["q"] or "",
            page=paging.asked_page(request.GET),
        )
        key = domains.parse(asked["domain"]) if asked["domain"] else None
    except Problem as refusal:
        found, key, problem = statements.Statements(items=(), total=0, page=1, pages=1), None, refusal
    asked["domain"] = str(key) if key else None
    context = {
        "nav": "explorer",
        "tab": "domains",
        "asked": asked,
        "is_narrowed": any(asked.values()),
        "address": reverse("domains") + paging.address(asked, page=found.page if found.page > 1 else None),
        "found": found,
        "drawers": tuple(_drawers(found.items)),
        "leaves": paging.leaves(asked, page=found.page, pages=found.pages),
        "all_domains": paging.address(asked, domain=None),
        "chips": tuple(_chips(shelves, asked)),
        "repos": sorted({shelf.key.repo for shelf in shelves if shelf.key.repo}),
        "whose": WHOSE.items(),
        "begun": _("Remember: "),
        "chosen": key,
        "places": _places(request, str(key), place) if key else (),
        "permissions": PERMISSIONS.items(),
        **form,
        "problem": problem,
    }
    return show(request, "knowledge/domains.html", "statements", context, status=422 if problem else 200)


def _drawers(facts: Iterable[FactView]) -> Iterable[Drawer]:
    """The page's sentences by domain and workspace, in which topics stay together."""
    by_domain = groupby(facts, key=lambda fact: fact.domain)
    for domain, in_domain in by_domain:
        held = sorted(in_domain, key=lambda fact: fact.scope_ref)  # stable: by topic and age within each
        for scope_ref, group in groupby(held, key=lambda fact: fact.scope_ref):
            yield Drawer(domain=domain, scope_ref=scope_ref, facts=tuple(group))


def _chips(shelves: Sequence[Shelf], asked: dict[str, str | None]) -> Iterable[tuple[DomainKey, str, int]]:
    """Each domain with the query that chooses it, and how much stands in it wherever one looks; the chosen one too."""
    counts = {key: sum(shelf.count for shelf in group) for key, group in groupby(shelves, key=lambda one: one.domain)}
    if asked["domain"]:
        counts.setdefault(asked["domain"], 0)
    for key, count in counts.items():
        yield domains.parse(key), paging.address(asked, domain=key), count


def _places(request: PersonRequest, domain: str, place: str | None) -> tuple[Place, ...]:
    """The workspaces in which something stands in the domain, as far as the person decides about it or somebody did."""
    principal = request.principal
    used = {one.scope_ref for one in domains.list_domains(principal=principal) if one.key == domain}
    found = []
    for ref, _words in request.scopes.writable:
        granted = [one for one in grants.list_grants(principal=principal, scope_ref=ref) if one.domain == domain]
        is_led = request.scopes.leads(ref)
        is_meant = ref == place if place else ref in used or not used
        if granted or (is_led and is_meant):
            found.append(Place(scope_ref=ref, is_led=is_led, grants=tuple(granted)))
    return tuple(found)
