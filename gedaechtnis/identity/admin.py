from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin

from gedaechtnis.identity.models import Group, GroupMembership, Org, OrgMembership, User

admin.site.register(User, UserAdmin)


class GroupMembershipInline(admin.TabularInline[GroupMembership, Group]):
    model = GroupMembership
    extra = 0


class OrgMembershipInline(admin.TabularInline[OrgMembership, Org]):
    model = OrgMembership
    extra = 0


@admin.register(Group)
class GroupAdmin(admin.ModelAdmin[Group]):
    list_display = ("name", "org", "created_at", "closed_at")
    inlines = (GroupMembershipInline,)


@admin.register(Org)
class OrgAdmin(admin.ModelAdmin[Org]):
    list_display = ("name", "created_at")
    inlines = (OrgMembershipInline,)
