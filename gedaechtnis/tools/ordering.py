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
    became = [
        (done.promoted, ngettext("%(count)s became a proposal.", "%(count)s became proposals.", done.promoted)),
        (
            done.merged,
            ngettext("%(count)s says the same as another.", "%(count)s say the same as another.", done.merged),
        ),
        (done.known, ngettext("%(count)s was known already.", "%(count)s were known already.", done.known)),
        (done.dropped, ngettext("%(count)s was dropped.", "%(count)s were dropped.", done.dropped)),
        (done.left, ngettext("%(count)s is left: call it again.", "%(count)s are left: call it again.", done.left)),
    ]
    told = [sentence % {"count": count} for count, sentence in became if count]
    return ToolAnswer(
        text=" ".join(told) or _("There is nothing to consolidate."),
        data=ConsolidatedData.of(done),
    )


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
