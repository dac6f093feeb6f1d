from __future__ import annotations

from typing import Any, ClassVar, TypeVar, cast
from uuid import UUID

from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialApp, SocialToken
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest

from gedaechtnis.identity import access, audit
from gedaechtnis.identity.models import AuditEntry, Group, GroupMembership, Org, OrgMembership, User

# Providers come from the settings alone, and neither their tokens nor e-mail addresses are kept.
admin.site.unregister((EmailAddress, SocialApp, SocialToken))


@admin.register(User)
class PersonAdmin(UserAdmin[User]):
    """Somebody who is disabled loses their open pages at once."""

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if "is_active" in form.changed_data:
            access.tell([obj.sub])

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """`user delete` does it: groups must keep an owner, and the person's memory goes too."""
        return False


class GroupMembershipInline(admin.TabularInline[GroupMembership, Group]):
    model = GroupMembership
    extra = 0


class OrgMembershipInline(admin.TabularInline[OrgMembership, Org]):
    model = OrgMembership
    extra = 0


M = TypeVar("M", Group, Org)


class MembersAdmin(admin.ModelAdmin[M]):
    """Changes of members are logged and told to open pages, like those made at the pages."""

    def construct_change_message(self, request: HttpRequest, form: Any, formsets: Any, add: bool = False) -> Any:
        """Without the members, whose names would outlive them there: the security log has them by their `sub`."""
        return super().construct_change_message(request, form, [], add)

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        with transaction.atomic():
            super().save_formset(request, form, formset, change)
            for membership in formset.new_objects:
                _changed(audit.Kind.MEMBER_ADDED, request, membership)
            for membership, _fields in formset.changed_objects:
                _changed(audit.Kind.ROLE_CHANGED, request, membership)
            for membership in formset.deleted_objects:
                _changed(audit.Kind.MEMBER_REMOVED, request, membership)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if "closed_at" in form.changed_data:
            access.tell(_members(obj))

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        members = _members(obj)
        super().delete_model(request, obj)
        access.tell(members)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[M]) -> None:
        members = [sub for one in queryset for sub in _members(one)]
        super().delete_queryset(request, queryset)
        access.tell(members)


def _members(one: Group | Org) -> list[UUID]:
    return [membership.user.sub for membership in one.memberships.select_related("user")]


def _changed(kind: AuditEntry.Kind, request: HttpRequest, membership: GroupMembership | OrgMembership) -> None:
    acting = cast(User, request.user)  # the admin lets nobody else in
    access.changed(
        kind,
        acted_by=f"user:{acting.sub}",
        scope_ref=f"group:{membership.group_id}"
        if isinstance(membership, GroupMembership)
        else f"org:{membership.org_id}",
        sub=membership.user.sub,
        role=membership.role,
        request=request,
    )


@admin.register(Group)
class GroupAdmin(MembersAdmin[Group]):
    list_display = ("name", "org", "created_at", "closed_at")
    inlines = (GroupMembershipInline,)

    def get_readonly_fields(self, request: HttpRequest, obj: Group | None = None) -> tuple[str, ...]:
        """What a group remembers lies in its organisation for ever; elsewhere nobody would find it."""
        return ("org",) if obj else ()


@admin.register(Org)
class OrgAdmin(MembersAdmin[Org]):
    list_display = ("name", "created_at")
    inlines = (OrgMembershipInline,)


@admin.register(AuditEntry)
class AuditEntryAdmin(admin.ModelAdmin[AuditEntry]):
    """To read only."""

    list_display = ("at", "kind", "acted_by", "sub", "token_id", "details")
    list_filter: ClassVar[tuple[str, ...]] = ("kind",)
    date_hierarchy = "at"
    search_fields = ("sub", "acted_by", "token_id")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: AuditEntry | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: AuditEntry | None = None) -> bool:
        return False
