"""Settings, groups: founding one, who is in it, leaving and closing it."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from gedaechtnis.common.problems import Problem
from gedaechtnis.identity import closed_groups, groups
from gedaechtnis.web.http import PersonRequest, act, only_posted, private, show


@require_http_methods(["GET", "HEAD", "POST"])
@private
def index(request: PersonRequest) -> HttpResponse:
    """The person's groups, and the form that founds one."""
    problem, name = None, request.POST.get("name", "")
    if request.method == "POST":
        try:
            made = groups.create_group(user=request.user, name=name)
        except Problem as refusal:
            problem = refusal
        else:
            messages.success(request, _("The group is there. Now let somebody in."))
            return redirect("group", made.pk)
    context = {
        "nav": "settings",
        "section": "groups",
        "groups": groups.list_groups(user=request.user),
        "closed": closed_groups.list_closed_groups(user=request.user),
        "problem": problem,
        "name": name,
    }
    return show(request, "groups/index.html", "groups", context, status=422 if problem else 200)


@require_safe
@private
def detail(request: PersonRequest, group_id: UUID) -> HttpResponse:
    """Who is in the group; for its owners, the forms that change it."""
    return _page(request, group_id)


@only_posted
@private
def rename(request: PersonRequest, group_id: UUID) -> HttpResponse:
    """Another name."""
    name = request.POST.get("name", "")
    return _act(
        request, group_id, lambda: groups.rename_group(user=request.user, group_id=group_id, name=name), _("Saved.")
    )


@only_posted
@private
def add(request: PersonRequest, group_id: UUID) -> HttpResponse:
    """Let somebody in, by user name."""
    username, role = request.POST.get("username", ""), request.POST.get("role", "")
    return _act(
        request,
        group_id,
        lambda: groups.add_member(user=request.user, group_id=group_id, username=username, role=role),
        _("%(name)s is in the group now.") % {"name": username.strip()},
    )


@only_posted
@private
def change_role(request: PersonRequest, group_id: UUID, sub: UUID) -> HttpResponse:
    """Another role for a member."""
    role = request.POST.get("role", "")
    return _act(
        request,
        group_id,
        lambda: groups.change_role(user=request.user, group_id=group_id, sub=sub, role=role),
        _("Saved."),
    )


@only_posted
@private
def remove(request: PersonRequest, group_id: UUID, sub: UUID) -> HttpResponse:
    """Let a member go."""
    return _act(
        request,
        group_id,
        lambda: groups.remove_member(user=request.user, group_id=group_id, sub=sub),
        _("Removed. What this person wrote in the group stays."),
    )


@only_posted
@private
def leave(request: PersonRequest, group_id: UUID) -> HttpResponse:
    """Go oneself."""
    return _act(
        request,
        group_id,
        lambda: groups.leave(user=request.user, group_id=group_id),
        _("You have left the group."),
        back="groups",
    )


@only_posted
@private
def close(request: PersonRequest, group_id: UUID) -> HttpResponse:
    """Nobody reads in it any more."""
    return _act(
        request,
        group_id,
        lambda: groups.close_group(user=request.user, group_id=group_id),
        _("The group is closed. Nobody reads in it any more."),
        back="groups",
    )


def _act(
    request: PersonRequest, group_id: UUID, write: Callable[[], None], message: str, *, back: str = "group"
) -> HttpResponse:
    address = reverse("groups") if back == "groups" else reverse(back, args=[group_id])
    return act(request, write, message=message, back=address, again=lambda problem: _page(request, group_id, problem))


def _page(request: PersonRequest, group_id: UUID, problem: Problem | None = None) -> HttpResponse:
    context = {
        "nav": "settings",
        "section": "groups",
        "group": groups.get_group(user=request.user, group_id=group_id),
        "roles": groups.Role.choices,
        "problem": problem,
        "typed": request.POST,
    }
    return show(request, "groups/detail.html", "group", context, status=422 if problem else 200)
