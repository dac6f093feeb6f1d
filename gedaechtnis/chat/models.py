"""Conversations, scoped like everything that may hold memory."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from gedaechtnis.scoping.models import ScopedModel

UNJUDGED = 2
"""Classification of what a person wrote until all it says has been judged: personal."""


class Chat(ScopedModel):
    """One conversation; each user has one main chat. `last_seq` numbers its messages."""

    title = models.CharField(max_length=200, blank=True)
    is_main = models.BooleanField(default=False)
    created_at = models.DateTimeField()
    last_seq = models.BigIntegerField(default=0)

    class Meta:
        db_table = "chats"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["scope_ref"], condition=Q(is_main=True), name="chats_one_main")
        ]

    def __str__(self) -> str:
        return self.title or str(self.pk)


class Message(ScopedModel):
    """One message. `seq` orders a chat without gaps in meaning; `client_id` makes sending idempotent.

    A fact may become more sensitive after it was told.
    """

    hidden_when = (
        "EXISTS (SELECT 1 FROM jsonb_array_elements_text(messages.fact_ids) AS told (id) "
        "WHERE NOT EXISTS (SELECT 1 FROM facts WHERE facts.id = told.id::uuid))"
    )

    class Role(models.TextChoices):
        USER = "user"
        ASSISTANT = "assistant"
        REVIEW = "review"
        NOTICE = "notice"

    chat_id = models.UUIDField()
    seq = models.BigIntegerField()
    role = models.CharField(max_length=10, choices=Role.choices)
    text = models.TextField(blank=True)
    created_at = models.DateTimeField()
    sent_at = models.DateTimeField()
    sent_zone = models.CharField(max_length=64)
    client_id = models.CharField(max_length=100, null=True)  # noqa: DJ001 (null = written by the server)
    run_id = models.UUIDField(null=True)
    fact_ids = models.JSONField(default=list)
    proposal_ids = models.JSONField(default=list)

    class Meta:
        db_table = "messages"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["scope_ref", "chat_id", "seq"], name="messages_seq"),
            models.UniqueConstraint(fields=["scope_ref", "chat_id", "client_id"], name="messages_once"),
        ]

    def __str__(self) -> str:
        return f"{self.role} {self.seq}"


class Run(ScopedModel):
    """One answer of an agent, or one pass of the curator: who triggered it and how it ended."""

    class Trigger(models.TextChoices):
        USER = "user"
        CURATOR = "curator"
        AUTOMATION = "automation"
        API = "api"
        MCP = "mcp"

    class Status(models.TextChoices):
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"

    chat_id = models.UUIDField()
    parent_run_id = models.UUIDField(null=True)
    trigger_source = models.CharField(max_length=12, choices=Trigger.choices, default=Trigger.USER)
    model = models.CharField(max_length=100, blank=True)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.RUNNING)
    tainted = models.BooleanField(default=False)
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "runs"
        indexes: ClassVar = [models.Index(fields=["scope_ref", "chat_id"], name="runs_chat")]

    def __str__(self) -> str:
        return str(self.pk)
