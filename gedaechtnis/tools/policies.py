"""Tools for what goes into every run, its rules above all. Rules of agents wait for a person, whatever they quote."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from gedaechtnis.common.ids import uuid7
from gedaechtnis.identity.principals import Principal
from gedaechtnis.knowledge import policies, policy_changes
from gedaechtnis.knowledge.policies import PolicyView
from gedaechtnis.knowledge.preamble import preamble_for_run
from gedaechtnis.memory.answers import ProposalView
from gedaechtnis.memory.schemas import OperationResult
from gedaechtnis.tools import text, workspace_arguments
from gedaechtnis.tools.data import ProposedData, ToolAnswer
from gedaechtnis.tools.proposing import outcome_in_words
from gedaechtnis.tools.workspace_data import PoliciesData, PolicyData, PreambleData, WaitingData


def get_preamble(principal: Principal, asked: workspace_arguments.GetPreamble) -> ToolAnswer:
    """What a run is told first."""
    told = preamble_for_run(principal=principal, task=asked.task, repo=asked.repo)
    nothing = _("There are no rules here, you have no notes, and no fact is found by these words.")
    return ToolAnswer(text=told.text or nothing, data=PreambleData.of(told))


def list_policies(principal: Principal, asked: workspace_arguments.ListPolicies) -> ToolAnswer:
    """All rules of the workspace and of what is around it, with how much of each run they take."""
    found = policies.list_policies(principal=principal, repo=asked.repo, include_inactive=asked.include_inactive)
    shown = found.items
    takes = ngettext("%(tokens)s token of each run", "%(tokens)s tokens of each run", found.tokens)
    return ToolAnswer(
        text=text.joined(
            [_line(policy) for policy in shown] or _("No rules are in force."),
            takes % {"tokens": found.tokens} if found.tokens else "",
            text.section(_("Waiting for a person:"), [_held(one) for one in found.waiting]),
        ),
        data=PoliciesData(
            items=[PolicyData.of(policy) for policy in shown],
            characters=found.characters,
            tokens=found.tokens,
            waiting=[WaitingData(proposal_id=one.id, statement=one.statement) for one in found.waiting],
        ),
    )


def _line(policy: PolicyView) -> str:
    """One rule, whole: what a run must keep to is never cut."""
    notes = [
        _("for %(role)s") % {"role": text.whole(policy.required_role)} if policy.required_role else "",
        "" if policy.is_active else _("switched off"),
        f"fact:{policy.id}",
    ]
    return f"- [{text.whole(policy.domain)}] {text.whole(policy.rule)} ({', '.join(filter(None, notes))})"


def _held(proposal: ProposalView) -> str:
    return f"- {text.whole(proposal.statement)} (proposal:{proposal.id})"


def propose_policy(principal: Principal, asked: workspace_arguments.ProposePolicy) -> ToolAnswer:
    """A rule for all runs of the workspace."""
    run_id = asked.run_id or f"r-{uuid7()}"
    result = policy_changes.propose_policy(principal=principal, **asked.model_dump(exclude={"run_id"}), run_id=run_id)
    return _answer(result, run_id)


def supersede_policy(principal: Principal, asked: workspace_arguments.SupersedePolicy) -> ToolAnswer:
    """Another rule in place of one."""
    run_id = asked.run_id or f"r-{uuid7()}"
    result = policy_changes.supersede_policy(principal=principal, **asked.model_dump(exclude={"run_id"}), run_id=run_id)
    return _answer(result, run_id)


def _answer(result: OperationResult, run_id: str) -> ToolAnswer:
    return ToolAnswer(text=outcome_in_words(result), data=ProposedData.of(result, run_id))
