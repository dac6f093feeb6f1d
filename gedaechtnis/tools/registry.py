"""All tools there are: what each is called, says of itself, takes and does. Every door offers these."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from pydantic import BaseModel

from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.principals import Principal
from gedaechtnis.tools import arguments as forms
from gedaechtnis.tools import (
    causes,
    data,
    entities,
    facts,
    notes,
    ordering,
    policies,
    proposing,
    reads,
    searching,
    workspace_data,
)
from gedaechtnis.tools import workspace_arguments as workspace
from gedaechtnis.tools.data import ToolAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """`title` and `description` are msgids. What does not read proposes, or `is_private`: only the agent's own notes
    are written. Nothing here reaches beyond the memory.
    """

    name: str
    title: str
    description: str
    form: type[BaseModel]
    answer: type[BaseModel]
    run: Callable[[Principal, Any], ToolAnswer]
    is_reading: bool = True
    is_destructive: bool = False
    is_private: bool = False

    @property
    def is_idempotent(self) -> bool:
        """Asked twice, it changes no more than once; a proposal only with a run id."""
        return self.is_reading

    def input_schema(self) -> dict[str, Any]:
        """In the active language."""
        return forms.schema(self.form)

    def output_schema(self) -> dict[str, Any]:
        return forms.schema(self.answer, mode="serialization")


_ALL = (
    Tool(
        name="find_entity",
        title=gettext_noop("Find a thing by name"),
        description=gettext_noop(
            "Finds people, places, pets, projects and other things by name, alias, a part of one, or nearly one. "
            "Returns references (kind:slug) that the other tools take. Start here when you only have a name."
        ),
        form=forms.FindEntity,
        answer=data.EntitiesData,
        run=entities.find_entity,
    ),
    Tool(
        name="get_entity",
        title=gettext_noop("What is known of a thing"),
        description=gettext_noop(
            "All that holds now about one thing: facts, and relationships in both directions (→ from it, ← to it), "
            "each with its source, date and certainty."
        ),
        form=forms.AboutEntity,
        answer=data.EntityFactsData,
        run=entities.get_entity,
    ),
    Tool(
        name="recall_facts_about",
        title=gettext_noop("Recall certain facts"),
        description=gettext_noop(
            "What holds now about one thing, only of predicates that fit a pattern, as in preferred_*."
        ),
        form=forms.RecallFacts,
        answer=data.FactsData,
        run=facts.recall_facts_about,
    ),
    Tool(
        name="get_fact_history",
        title=gettext_noop("History of a fact"),
        description=gettext_noop("Every value a predicate of one thing had, with since when and until when it held."),
        form=forms.FactHistory,
        answer=data.FactsData,
        run=facts.get_fact_history,
    ),
    Tool(
        name="get_neighbors",
        title=gettext_noop("What is around a thing"),
        description=gettext_noop(
            "The things that relationships of one thing lead to, in both directions, up to three steps away."
        ),
        form=forms.Neighbors,
        answer=data.NeighborsData,
        run=entities.get_neighbors,
    ),
    Tool(
        name="state_at",
        title=gettext_noop("What held at a time"),
        description=gettext_noop(
            "What held about one thing at a moment in the world, by today's knowledge. For what was believed then, "
            "use state_as_known_at."
        ),
        form=forms.StateAt,
        answer=data.FactsAtData,
        run=facts.state_at,
    ),
    Tool(
        name="state_as_known_at",
        title=gettext_noop("What was known at a time"),
        description=gettext_noop(
            "What the memory believed about one thing at a moment, also where it has been corrected since."
        ),
        form=forms.StateAt,
        answer=data.FactsAtData,
        run=facts.state_as_known_at,
    ),
    Tool(
        name="effects_of",
        title=gettext_noop("What came of something"),
        description=gettext_noop("What a run or an event changed in the memory, directly and through what followed."),
        form=forms.EffectsOf,
        answer=data.EventsData,
        run=causes.effects_of,
    ),
    Tool(
        name="explain_change",
        title=gettext_noop("Why something is believed"),
        description=gettext_noop(
            "Why a fact is believed: who said it where and when, what stood there before, what closed it."
        ),
        form=forms.ExplainChange,
        answer=data.ExplanationData,
        run=causes.explain_change,
    ),
    Tool(
        name="who_has",
        title=gettext_noop("Who has this"),
        description=gettext_noop(
            "The question from the other end: of whom or what a predicate holds with this object. "
            "Who lives in place:ulm? Who is allergic to nuts?"
        ),
        form=forms.WhoHas,
        answer=data.FactsAtData,
        run=entities.who_has,
    ),
    Tool(
        name="search_world_memory",
        title=gettext_noop("Search"),
        description=gettext_noop(
            "Finds facts, things and what was said by words and meaning, when no name leads there. A finder: look up "
            "what holds now with get_entity or recall_facts_about."
        ),
        form=forms.SearchMemory,
        answer=data.SearchData,
        run=searching.search_world_memory,
    ),
    Tool(
        name="dossier",
        title=gettext_noop("Dossier"),
        description=gettext_noop(
            "One thing with its surroundings: all that is known of it, the most telling of those around it, and what "
            "changed last."
        ),
        form=forms.AboutEntity,
        answer=data.DossierData,
        run=entities.dossier,
    ),
    Tool(
        name="list_memory_conflicts",
        title=gettext_noop("Contradictions"),
        description=gettext_noop("Statements that were written although another one claims the same time."),
        form=forms.Conflicts,
        answer=data.ConflictsData,
        run=causes.list_memory_conflicts,
    ),
    Tool(
        name="propose_fact",
        title=gettext_noop("Propose a fact"),
        description=gettext_noop(
            "Proposes that something be remembered. It waits until the person agrees, unless you quote their own "
            "sentence with its message. Propose only what should last."
        ),
        form=forms.ProposeFact,
        answer=data.ProposedData,
        run=proposing.propose_fact,
        is_reading=False,
    ),
    Tool(
        name="supersede_fact",
        title=gettext_noop("Propose another value"),
        description=gettext_noop(
            "Proposes another value in place of a fact: because it changed, or because it was wrong. The old one stays "
            "in the history."
        ),
        form=forms.SupersedeFact,
        answer=data.ProposedData,
        run=proposing.supersede_fact,
        is_reading=False,
        is_destructive=True,
    ),
    Tool(
        name="forget",
        title=gettext_noop("Propose to forget"),
        description=gettext_noop(
            "Proposes that a fact no longer be believed: because it ended, or because it was wrong. The history keeps "
            "it."
        ),
        form=forms.Forget,
        answer=data.ProposedData,
        run=proposing.forget,
        is_reading=False,
        is_destructive=True,
    ),
    Tool(
        name="read_my_notes",
        title=gettext_noop("Read one's own notes"),
        description=gettext_noop("Your own notes in this workspace, with the version to change them by."),
        form=workspace.ReadMyNotes,
        answer=workspace_data.NotesData,
        run=notes.read_my_notes,
    ),
    Tool(
        name="update_my_notes",
        title=gettext_noop("Change one's own notes"),
        description=gettext_noop(
            "Writes your own notes anew: what you need at the start of your next run. You alone are given them, before "
            "every run. Read them first and send all that should stay."
        ),
        form=workspace.UpdateMyNotes,
        answer=workspace_data.NotesData,
        run=notes.update_my_notes,
        is_reading=False,
        is_private=True,
    ),
    Tool(
        name="record_observation",
        title=gettext_noop("Record an observation"),
        description=gettext_noop(
            "Keeps what you noticed, with its day, in your own notes. Its reference is a source for what you propose."
        ),
        form=workspace.RecordObservation,
        answer=workspace_data.ObservationData,
        run=notes.record_observation,
        is_reading=False,
        is_private=True,
    ),
    Tool(
        name="remember",
        title=gettext_noop("Remember for now"),
        description=gettext_noop(
            "Keeps something for yourself at once, without asking anybody. What should last is proposed to the person "
            "when you consolidate your memory."
        ),
        form=workspace.Remember,
        answer=workspace_data.HotEntryData,
        run=notes.remember,
        is_reading=False,
        is_private=True,
    ),
    Tool(
        name="consolidate_memory",
        title=gettext_noop("Consolidate one's memory"),
        description=gettext_noop(
            "Proposes what you remembered: what says the same once, and not what is known or waits already. A person "
            "decides. Nothing is lost; call it again until nothing is left."
        ),
        form=workspace.ConsolidateMemory,
        answer=workspace_data.ConsolidatedData,
        run=ordering.consolidate_memory,
        is_reading=False,
    ),
    Tool(
        name="harmonize_memory",
        title=gettext_noop("Harmonize beliefs"),
        description=gettext_noop(
            "Finds statements of different agents that contradict each other in one domain and topic, and asks a "
            "person about each pair once. Nothing changes before they say what holds."
        ),
        form=workspace.HarmonizeMemory,
        answer=workspace_data.HarmonizedData,
        run=ordering.harmonize_memory,
        is_reading=False,
    ),
    Tool(
        name="get_preamble",
        title=gettext_noop("Before you begin"),
        description=gettext_noop(
            "What to know before you begin: the rules to keep to, your own notes, and a few facts that the words of "
            "your task find. Ask it first in every run that was not told already."
        ),
        form=workspace.GetPreamble,
        answer=workspace_data.PreambleData,
        run=policies.get_preamble,
    ),
    Tool(
        name="list_policies",
        title=gettext_noop("Rules in force"),
        description=gettext_noop(
            "The rules that every run here keeps to, with the domain of each, what they take of a run, and which wait "
            "for a person."
        ),
        form=workspace.ListPolicies,
        answer=workspace_data.PoliciesData,
        run=policies.list_policies,
    ),
    Tool(
        name="propose_policy",
        title=gettext_noop("Propose a rule"),
        description=gettext_noop(
            "Proposes a rule that every run here is to keep to. It always waits for a person. For what is so, rather "
            "than what shall be done, use propose_fact."
        ),
        form=workspace.ProposePolicy,
        answer=data.ProposedData,
        run=policies.propose_policy,
        is_reading=False,
    ),
    Tool(
        name="supersede_policy",
        title=gettext_noop("Propose another rule"),
        description=gettext_noop(
            "Proposes another wording in place of a rule. It always waits for a person; the old one stays in the "
            "history."
        ),
        form=workspace.SupersedePolicy,
        answer=data.ProposedData,
        run=policies.supersede_policy,
        is_reading=False,
        is_destructive=True,
    ),
)

TOOLS: Mapping[str, Tool] = {tool.name: tool for tool in _ALL}


def offered_to(principal: Principal) -> list[Tool]:
    """The tools that a principal may use: who may not write is offered none that propose."""
    return [tool for tool in TOOLS.values() if tool.is_reading or principal.write_scopes]


def run(
    name: str, *, principal: Principal, arguments: Mapping[str, Any], request: HttpRequest | None = None
) -> ToolAnswer:
    """What a tool answers, in the active language and the principal's zone.

    What an agent asks for, also to change it, is recorded before the answer leaves.

    Raises:
        Problem: `unknown_tool` (404), `read_only` (403), a misfit of an argument with its name as `field`, or what the
            memory refuses.
    """
    tool = TOOLS.get(name)
    if tool is None:
        raise Problem("unknown_tool", _("There is no tool “%(name)s”.") % {"name": name[:60]}, 404)
    if not tool.is_reading and not principal.write_scopes:
        raise Problem("read_only", _("This token may only read."), 403)
    asked = forms.read(tool.form, arguments)
    with timezone.override(principal.zone):
        try:
            answer = tool.run(principal, asked)
        except Problem as problem:
            reads.record(name, asked, principal=principal, status=problem.status, request=request)
            raise
        reads.record(name, asked, principal=principal, request=request)
    reads.count(answer)
    return answer
