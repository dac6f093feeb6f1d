"""Tables outside row-level security; they hold who someone is, never what is remembered."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils.translation import gettext_lazy as _

from gedaechtnis.common import clock
from gedaechtnis.common.ids import uuid7


def default_time_zone() -> str:
    return str(settings.GEDAECHTNIS_TIME_ZONE)


def default_language() -> str:
    return str(settings.LANGUAGE_CODE)


class User(AbstractUser):
    """A person. `sub` names them in every scope and is never re-used."""

    sub = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    time_zone = models.CharField(max_length=64, default=default_time_zone)
    language = models.CharField(max_length=8, default=default_language)

    REQUIRED_FIELDS: ClassVar[list[str]] = []

    def __str__(self) -> str:
        return self.username


class Org(models.Model):
    """A tenant: the outer boundary around groups."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name


class OrgMembership(models.Model):
    class Role(models.TextChoices):
        ADMIN = "admin", _("admin")
        MEMBER = "member", _("member")

    org = models.ForeignKey(Org, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="org_memberships")
    role = models.CharField(max_length=10, choices=Role.choices, default=Role.MEMBER)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["org", "user"], name="org_membership_once")]

    def __str__(self) -> str:
        return f"{self.user} · {self.org}"


class Group(models.Model):
    """People who share a memory, inside an org or by themselves."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.CharField(max_length=200)
    org = models.ForeignKey(Org, on_delete=models.PROTECT, null=True, blank=True, related_name="groups")
    created_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.name


class GroupMembership(models.Model):
    class Role(models.TextChoices):
        OWNER = "owner", _("owner")
        EDITOR = "editor", _("editor")
        VIEWER = "viewer", _("viewer")

    group = models.ForeignKey(Group, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="group_memberships")
    role = models.CharField(max_length=10, choices=Role.choices, default=Role.EDITOR)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["group", "user"], name="group_membership_once")]

    def __str__(self) -> str:
        return f"{self.user} · {self.group}"


class ClaimedGroup(models.Model):
    """A group whose members an identity provider names: the value of its claim, and the group it means here."""

    provider_id = models.CharField(max_length=200)
    name = models.CharField(max_length=200)
    group = models.OneToOneField(Group, on_delete=models.CASCADE, related_name="claimed")

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["provider_id", "name"], name="claimed_group_once")]

    def __str__(self) -> str:
        return self.name


class Token(models.Model):
    """A bearer token: stored as a digest, shown once, never more than its user."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=100)
    prefix = models.CharField(max_length=16, help_text=_("The first characters, to recognise it by."))
    digest = models.CharField(max_length=64, unique=True)
    agent_role = models.CharField(
        max_length=50, blank=True, help_text=_("Set for an agent's token; empty for the person's own.")
    )
    read_only = models.BooleanField(default=False)
    trusted_writer = models.BooleanField(default=False)
    write_scope = models.CharField(max_length=100, blank=True)
    clearance = models.PositiveSmallIntegerField(default=3)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    @property
    def has_expired(self) -> bool:
        return self.expires_at is not None and self.expires_at <= clock.now()


class AuditEntry(models.Model):
    """One act of security: ids and codes only. Outlives users and tokens, so it refers to them by value."""

    class Kind(models.TextChoices):
        SIGN_IN = "sign_in", _("Signed in")
        SIGN_IN_FAILED = "sign_in_failed", _("Sign-in failed")
        SIGN_IN_BLOCKED = "sign_in_blocked", _("Sign-in held up after too many attempts")
        SIGN_OUT = "sign_out", _("Signed out")
        TOKEN_CREATED = "token_created", _("Token made")
        TOKEN_FIRST_USED = "token_first_used", _("Token used for the first time")
        TOKEN_REVOKED = "token_revoked", _("Token revoked")
        MEMBER_ADDED = "member_added", _("Became a member")
        MEMBER_REMOVED = "member_removed", _("No longer a member")
        ROLE_CHANGED = "role_changed", _("Another role")
        GROUP_CLOSED = "group_closed", _("Group closed")
        READ = "read", _("Read by an agent")
        CLASSIFIED = "classified", _("Sensitivity changed")
        EXPORTED = "exported", _("Exported")
        IMPORTED = "imported", _("Imported")
        ERASED = "erased", _("Erased")
        PREDICATE_CHANGED = "predicate_changed", _("Rules of a predicate changed")
        GRANT_CHANGED = "grant_changed", _("Rights of agents in a domain changed")

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    at = models.DateTimeField()
    kind = models.CharField(max_length=30)
    sub = models.UUIDField(null=True)
    acted_by = models.CharField(max_length=120, blank=True)
    token_id = models.UUIDField(null=True)
    address_hash = models.CharField(max_length=64, blank=True)
    details = models.JSONField(default=dict)

    class Meta:
        verbose_name_plural = "audit entries"
        indexes: ClassVar = [
            models.Index(fields=["sub", "at"], name="audit_of_person"),
            models.Index(fields=["at"], name="audit_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.at:%Y-%m-%d %H:%M}"
