"""Settings, organisations: who is in one, its groups' founding, and the one in which the pages act."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from gedaechtnis.common.problems import NotFound, Problem
from gedaechtnis.identity import orgs
from gedaechtnis.web.http import PersonRequest, act, only_posted, private, safe_next, show


@require_http_methods(["GET", "HEAD", "POST"])
@private
def index(request: PersonRequest) -> HttpResponse:
    """The person's organisations, and for staff the form that founds one."""
    problem, name = None, request.POST.get("name", "")
    if request.method == "POST":
        try:
            made = orgs.create_org(user=request.user, name=name)
        except Problem as refusal:
            if refusal.field is None:
                raise
            problem = refusal
        else:
            messages.success(request, _("The organisation is there. Now let somebody in."))
            return redirect("org", made.pk)
    context = {
        "nav": "settings",
        "section": "orgs",
        "orgs": orgs.list_orgs(user=request.user),
        "problem": problem,
        "name": name,
    }
    return show(request, "orgs/index.html", "orgs", context, status=422 if problem else 200)


@require_safe
@private
def detail(request: PersonRequest, org_id: UUID) -> HttpResponse:
    """Who is in the organisation; for its admins, the forms that change it."""
    return _page(request, org_id)


@only_posted
@private
def rename(request: PersonRequest, org_id: UUID) -> HttpResponse:
    """Another name."""
    name = request.POST.get("name", "")
    return _act(request, org_id, lambda: orgs.rename_org(user=request.user, org_id=org_id, name=name), _("Saved."))


@only_posted
@private
def add(request: PersonRequest, org_id: UUID) -> HttpResponse:
    """Let somebody in, by user name."""
    username, role = request.POST.get("username", ""), request.POST.get("role", "")
    return _act(
        request,
        org_id,
        lambda: orgs.add_member(user=request.user, org_id=org_id, username=username, role=role),
        _("%(name)s is in the organisation now.") % {"name": username.strip()},
    )


@only_posted
@private
def change_role(request: PersonRequest, org_id: UUID, sub: UUID) -> HttpResponse:
    """Another role for a member."""
    role = request.POST.get("role", "")
    return _act(
        request,
        org_id,
        lambda: orgs.change_role(user=request.user, org_id=org_id, sub=sub, role=role),
        _("Saved."),
    )


@only_posted
@private
def remove(request: PersonRequest, org_id: UUID, sub: UUID) -> HttpResponse:
    """Let a member go."""
    return _act(
        request,
        org_id,
        lambda: orgs.remove_member(user=request.user, org_id=org_id, sub=sub),
        _("Removed, from the groups of the organisation too. What this person wrote there stays."),
    )


@only_posted
@private
def leave(request: PersonRequest, org_id: UUID) -> HttpResponse:
    """Go oneself."""
    return _act(
        request,
        org_id,
        lambda: orgs.leave(user=request.user, org_id=org_id),
        _("You have left the organisation."),
        back=reverse("orgs"),
    )


@only_posted
@private
def found_group(request: PersonRequest, org_id: UUID) -> HttpResponse:
    """A new group inside the organisation."""
    try:
        made = orgs.create_group(user=request.user, org_id=org_id, name=request.POST.get("group", ""))
    except Problem as problem:
        if problem.field is None:  # nothing typed wrongly: missing, or not theirs to do
            raise
        return _page(request, org_id, problem)
    messages.success(request, _("The group is there. Now let somebody in."))
    return redirect("group", made.pk)


@only_posted
@private
def choose(request: PersonRequest) -> HttpResponse:
    """From now on the pages show, and write within, another of the person's organisations."""
    try:
        org_id = UUID(request.POST.get("org", ""))
    except ValueError as error:
        raise NotFound(_("There is no such organisation."), field="org") from error
    orgs.choose(user=request.user, session=request.session, org_id=org_id)
    return redirect(safe_next(request, reverse("home")))


def _act(
    request: PersonRequest, org_id: UUID, write: Callable[[], object], message: str, *, back: str = ""
) -> HttpResponse:
    address = back or reverse("org", args=[org_id])
    return act(request, write, message=message, back=address, again=lambda problem: _page(request, org_id, problem))


def _page(request: PersonRequest, org_id: UUID, problem: Problem | None = None) -> HttpResponse:
    context = {
        "nav": "settings",
        "section": "orgs",
        "org": orgs.get_org(user=request.user, org_id=org_id),
        "roles": orgs.Role.choices,
        "problem": problem,
        "typed": request.POST,
    }
    return show(request, "orgs/detail.html", "org", context, status=422 if problem else 200)
