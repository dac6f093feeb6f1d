"""Grants in the admin: as the acting person, who sees the workspaces they read and changes those they lead.

Staff get no further than anybody else: each page is made inside the person's own scope, and each change goes through
`grants.set_grant`, which records it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ClassVar, cast

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import SimpleTemplateResponse
from django.utils.translation import gettext_lazy

from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal, leads, person
from gedaechtnis.knowledge import domains, grants
from gedaechtnis.knowledge.agents import check_role, owner_of
from gedaechtnis.knowledge.models import DomainGrant
from gedaechtnis.scoping.context import current_scope, scope

Page = Callable[..., HttpResponse]


def _as_the_person(page: Page) -> Page:
    """Make a page of the admin to its end inside the scope of who asks for it."""

    @wraps(page)
    def inside(self: Any, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        with scope(person(cast(User, request.user))):  # the admin lets nobody else in
            response = page(self, request, *args, **kwargs)
            return response.render() if isinstance(response, SimpleTemplateResponse) else response

    return inside


def _principal() -> Principal:
    opened = current_scope()
    if opened is None:
        raise RuntimeError("grants are shown inside a scope only")
    return opened.principal


def _led(user: User) -> list[tuple[str, str]]:
    """The workspaces that somebody leads, with what they are called."""
    principal = person(user)
    names = principal.scope_names
    return [(ref, names.get(ref, str(user))) for ref in principal.read_scopes if leads(user, ref)]


class GrantForm(forms.ModelForm[DomainGrant]):
    scope_ref = forms.ChoiceField(
        label=gettext_lazy("Workspace"),
        choices=lambda: _led(User.objects.get(sub=owner_of(_principal()).removeprefix("user:"))),
    )

    def clean_domain(self) -> str:
        return self._checked(lambda: str(domains.parse(self.cleaned_data["domain"])))

    def clean_agent_role(self) -> str:
        return self._checked(lambda: check_role(self.cleaned_data["agent_role"], field="agent_role"))

    def _checked(self, check: Callable[[], str]) -> str:
        try:
            return check()
        except Problem as problem:
            raise ValidationError(problem.detail) from problem


@admin.register(DomainGrant)
class DomainGrantAdmin(admin.ModelAdmin[DomainGrant]):
    """Of a grant that stands only the permission is changed; one that is deleted leaves the domain open again."""

    form = GrantForm
    fields = ("scope_ref", "domain", "agent_role", "permission")
    list_display = ("domain", "agent_role", "permission", "scope_ref")
    list_filter: ClassVar[tuple[str, ...]] = ("permission",)
    ordering = ("domain", "agent_role")
    actions = None

    @_as_the_person
    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        return super().changelist_view(request, extra_context)

    @_as_the_person
    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return super().changeform_view(request, *args, **kwargs)

    @_as_the_person
    def delete_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        return super().delete_view(request, object_id, extra_context)

    @_as_the_person
    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        return super().history_view(request, object_id, extra_context)

    def get_queryset(self, request: HttpRequest) -> QuerySet[DomainGrant]:
        """Of the workspaces the person leads: who only reads one learns of its grants elsewhere."""
        led = [ref for ref, _name in _led(cast(User, request.user))]
        return super().get_queryset(request).filter(scope_ref__in=led)

    def get_readonly_fields(self, request: HttpRequest, obj: DomainGrant | None = None) -> tuple[str, ...]:
        return ("scope_ref", "domain", "agent_role") if obj else ()

    def save_model(self, request: HttpRequest, obj: DomainGrant, form: Any, change: bool) -> None:
        made = _set(obj, obj.permission)
        if made is not None:
            obj.pk = made.id

    def delete_model(self, request: HttpRequest, obj: DomainGrant) -> None:
        _set(obj, None)

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        """Not in the admin's own log, which stands outside the policies: the change itself is on record."""

    log_change = log_addition

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        """As with what is added."""


def _set(row: DomainGrant, permission: str | None) -> grants.Grant | None:
    return grants.set_grant(
        principal=_principal(),
        scope_ref=row.scope_ref,
        domain=row.domain,
        agent_role=row.agent_role,
        permission=permission,
    )
