"""Conversations, scoped like everything that may hold memory."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from gedaechtnis.scoping.models import ScopedModel

UNJUDGED = 2
"""Classification of what a person wrote until all it says has been judged: personal."""


class Chat(ScopedModel):
    """One conversation; each user has one main chat. `last_seq` numbers its messages.

    One from elsewhere has a `source` (chatgpt, claude, gemini, jsonl) and is only read: `external_id` is what it is
    called there, `original` what else was exported of it, `import_id` the import that brought it.
    """

    title = models.CharField(max_length=200, blank=True)
    is_main = models.BooleanField(default=False)
    created_at = models.DateTimeField()
    last_seq = models.BigIntegerField(default=0)
    source = models.CharField(max_length=20, blank=True)
    external_id = models.CharField(max_length=200, blank=True)
    import_id = models.UUIDField(null=True)
    original = models.JSONField(default=dict)

    class Meta:
        db_table = "chats"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["scope_ref"], condition=Q(is_main=True), name="chats_one_main"),
            models.UniqueConstraint(
                fields=["scope_ref", "source", "external_id"], condition=~Q(source=""), name="chats_imported_once"
            ),
        ]

    def __str__(self) -> str:
        return self.title or str(self.pk)


class Message(ScopedModel):
    """One message. `seq` orders a chat without gaps in meaning; `client_id` makes sending idempotent.

    A fact may become more sensitive after it was told.

    Of an imported one, `external_id` and `parent` are the vendor's, `session` says with which others it was one talk,
    `is_hidden` that the vendor did not show it as conversation, `is_current` that it is on the branch that was kept.
    `parts` are its pieces in order where there is more to it than `text`; `original` is it as exported.
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
        OTHER = "other"

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
    speaker = models.CharField(max_length=200, blank=True)
    external_id = models.CharField(max_length=200, null=True)  # noqa: DJ001 (null = written here)
    parent = models.CharField(max_length=200, blank=True)
    session = models.CharField(max_length=200, blank=True)
    is_hidden = models.BooleanField(default=False)
    is_current = models.BooleanField(default=True)
    parts = models.JSONField(default=list)
    original = models.JSONField(default=dict)

    class Meta:
        db_table = "messages"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["scope_ref", "chat_id", "seq"], name="messages_seq"),
            models.UniqueConstraint(fields=["scope_ref", "chat_id", "client_id"], name="messages_once"),
            models.UniqueConstraint(fields=["scope_ref", "chat_id", "external_id"], name="messages_imported_once"),
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


class EpisodeMark(ScopedModel):
    """How far a chat's messages were made into episodes: up to `seq`. `episodes` counts those of its main line."""

    exported = False

    chat_id = models.UUIDField()
    seq = models.BigIntegerField(default=0)
    episodes = models.BigIntegerField(default=0)

    class Meta:
        db_table = "episode_marks"
        constraints: ClassVar = [models.UniqueConstraint(fields=["scope_ref", "chat_id"], name="episode_marks_chat")]

    def __str__(self) -> str:
        return f"{self.chat_id} @ {self.seq}"


class ChatImport(ScopedModel):
    """Chats that are being taken in, piece by piece (`chat/imports/service.py`).

    `staged` messages wait or were written: `messages` are new ones, `known` were there before. `flaws` names what
    could not be read, the first of `flaw_count`. `learned` counts the chats that the curator has read.
    """

    class State(models.TextChoices):
        RUNNING = "running"
        DONE = "done"

    exported = False

    state = models.CharField(max_length=10, choices=State.choices, default=State.RUNNING)
    learn = models.BooleanField(default=False)
    staged = models.BigIntegerField(default=0)
    chats = models.BigIntegerField(default=0)
    messages = models.BigIntegerField(default=0)
    known = models.BigIntegerField(default=0)
    learned = models.BigIntegerField(default=0)
    flaws = models.JSONField(default=list)
    flaw_count = models.BigIntegerField(default=0)
    passed_over = models.JSONField(default=list)
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "chat_imports"

    def __str__(self) -> str:
        return f"{self.messages + self.known}/{self.staged}"


class ChatImportPiece(ScopedModel):
    """Chats whose messages are not written yet. It goes in the transaction that writes them."""

    app_privileges = ("SELECT", "INSERT", "DELETE")
    exported = False

    import_id = models.UUIDField()
    position = models.BigIntegerField()
    chats = models.JSONField()

    class Meta:
        db_table = "chat_import_pieces"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["scope_ref", "import_id", "position"], name="chat_import_pieces_order")
        ]

    def __str__(self) -> str:
        return f"{self.import_id} #{self.position}"
