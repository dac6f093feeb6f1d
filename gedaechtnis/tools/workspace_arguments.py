"""What the tools for a workspace take: rules, and an agent's own notes."""

from __future__ import annotations

from typing import Annotated, Literal

from django.utils.translation import gettext_noop
from pydantic import Field

from gedaechtnis.knowledge.consolidation import DEFAULT_LIMIT as DEFAULT_ENTRIES
from gedaechtnis.knowledge.consolidation import MAX_LIMIT as MAX_ENTRIES
from gedaechtnis.knowledge.harmonizing import DEFAULT_LIMIT as DEFAULT_PAIRS
from gedaechtnis.knowledge.harmonizing import MAX_LIMIT as MAX_PAIRS
from gedaechtnis.memory.values import MAX_RULE
from gedaechtnis.tools.arguments import Arguments, Domain, MessageRef, Quote, Reason, Repo, RunId

MAX_VERSION = 2**31 - 1


class ReadMyNotes(Arguments):
    pass


class UpdateMyNotes(Arguments):
    text: str = Field(description=gettext_noop("All of the notes as they are to be; at most 8,000 characters."))
    based_on_version: int | None = Field(
        default=None,
        ge=0,
        le=MAX_VERSION,
        description=gettext_noop("The version that was changed, as read_my_notes says it; none for the first notes."),
    )


class RecordObservation(Arguments):
    text: str = Field(
        min_length=1, max_length=2000, description=gettext_noop("What you noticed, in a sentence or two.")
    )


class Remember(Arguments):
    text: str = Field(min_length=1, max_length=2000, description=gettext_noop("One thing, understandable by itself."))
    domain: Domain = "general"
    topic: str = Field(default="", max_length=200, description=gettext_noop("What it is about, in a word or two."))
    repo: Repo | None = None
    session_id: str | None = Field(
        default=None, max_length=200, description=gettext_noop("A name for the session it comes from.")
    )
    memory_type: Literal["note", "decision", "preference", "observed_state", "hypothesis"] = Field(
        default="note", description=gettext_noop("What kind of thing it is; it decides how fast it fades.")
    )


class ConsolidateMemory(Arguments):
    session_id: str | None = Field(
        default=None, max_length=200, description=gettext_noop("Only what was remembered in this session.")
    )
    limit: int = Field(
        default=DEFAULT_ENTRIES, ge=1, le=MAX_ENTRIES, description=gettext_noop("How many entries, the oldest first.")
    )


class HarmonizeMemory(Arguments):
    domain: str | None = Field(
        default=None, min_length=1, max_length=200, description=gettext_noop("Only in this domain; in all without it.")
    )
    repo: str | None = Field(
        default=None,
        min_length=1,
        max_length=80,
        description=gettext_noop("With `domain`: the slug of the repository, if the domain is one of it."),
    )
    limit: int = Field(
        default=DEFAULT_PAIRS, ge=1, le=MAX_PAIRS, description=gettext_noop("About how many pairs a person is asked.")
    )


PolicyText = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_RULE,
        description=gettext_noop("The rule, in one line, as it is put before every run: short, and to be followed."),
    ),
]


class GetPreamble(Arguments):
    task: str = Field(
        default="",
        max_length=10_000,
        description=gettext_noop("What you are about to do, in the person's words; below 20 characters no facts come."),
    )
    repo: str | None = Field(
        default=None,
        min_length=1,
        max_length=80,
        description=gettext_noop("The slug of the repository you work in: what is known of it comes first."),
    )


class ListPolicies(Arguments):
    repo: str | None = Field(
        default=None,
        min_length=1,
        max_length=80,
        description=gettext_noop("The repository at hand, as in `my-repo`: its rules come first."),
    )
    include_inactive: bool = Field(
        default=False, description=gettext_noop("Also those that were switched off or begin later.")
    )


class ProposePolicy(Arguments):
    rule: PolicyText
    domain: Domain = "general"
    repo: Repo | None = None
    required_role: str | None = Field(
        default=None, max_length=100, description=gettext_noop("For which role of an agent it is meant; a hint only.")
    )
    name: str | None = Field(
        default=None, max_length=500, description=gettext_noop("What to call it; its first words without one.")
    )
    quote: Quote | None = None
    message: MessageRef | None = None
    reason: Reason | None = None
    run_id: RunId | None = None


class SupersedePolicy(Arguments):
    policy: str = Field(
        min_length=1,
        max_length=500,
        description=gettext_noop("Which rule: `fact:<id>`, as list_policies tells it."),
    )
    rule: PolicyText
    quote: Quote | None = None
    message: MessageRef | None = None
    reason: Reason | None = None
    run_id: RunId | None = None
