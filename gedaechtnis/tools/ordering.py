"""Tools by which an agent puts memory in order: what it remembered is proposed, what drifted apart is asked about."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from gedaechtnis.identity.principals import Principal
from gedaechtnis.knowledge import consolidation, harmonizing
from gedaechtnis.memory.services.contradictions import Raised, Side, role_of
from gedaechtnis.tools import text, workspace_arguments
from gedaechtnis.tools.data import ToolAnswer
from gedaechtnis.tools.workspace_data import ConsolidatedData, HarmonizedData


def consolidate_memory(principal: Principal, asked: workspace_arguments.ConsolidateMemory) -> ToolAnswer:
    """What was remembered becomes proposals."""
    done = consolidation.consolidate(principal=principal, session_id=asked.session_id, limit=asked.limit)
    told = [
        ngettext("%(count)s became a proposal.", "%(count)s became proposals.", done.promoted)
        % {"count": done.promoted},
        _("%(merged)s say the same as another, %(known)s were known already, %(dropped)s were dropped.")
        % {"merged": done.merged, "known": done.known, "dropped": done.dropped},
    ]
    if done.left:
        told.append(_("%(left)s are left: call it again.") % {"left": done.left})
    if not (done.promoted or done.merged or done.known or done.dropped or done.left):
        told = [_("There is nothing to consolidate.")]
    return ToolAnswer(text=" ".join(told), data=ConsolidatedData.of(done))


def harmonize_memory(principal: Principal, asked: workspace_arguments.HarmonizeMemory) -> ToolAnswer:
    """What contradicts is put before a person."""
    done = harmonizing.harmonize(principal=principal, domain=asked.domain, repo=asked.repo, limit=asked.limit)
    if not done.raised:
        told = _("No statements were found that a person has to be asked about.")
        return ToolAnswer(text=told, data=HarmonizedData.of(done))
    heading = ngettext(
        "A person is asked about %(count)s pair:", "A person is asked about %(count)s pairs:", len(done.raised)
    ) % {"count": len(done.raised)}
    return ToolAnswer(text=text.joined(heading, map(_pair, done.raised)), data=HarmonizedData.of(done))


def _pair(raised: Raised) -> str:
    place = f"{raised.pair.domain} · {raised.pair.topic}" if raised.pair.topic else raised.pair.domain
    return f"- [{place}] {_side(raised.pair.new)} ≠ {_side(raised.pair.old)}"


def _side(side: Side) -> str:
    return f"{text.quoted(side.text)} ({role_of(side.voice) or _('a person')}, {text.day(side.since)})"
