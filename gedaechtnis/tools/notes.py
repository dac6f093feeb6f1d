"""Tools for what an agent keeps for itself: its notes, what it noticed, what it wants remembered.

Nobody else is told any of it, and none of it is believed, so nothing of it waits for a person.
"""

from __future__ import annotations

from django.utils.translation import gettext as _

from gedaechtnis.identity.principals import Principal
from gedaechtnis.knowledge import hot, pads
from gedaechtnis.tools import workspace_arguments
from gedaechtnis.tools.data import ToolAnswer
from gedaechtnis.tools.workspace_data import HotEntryData, NotesData, ObservationData


def read_my_notes(principal: Principal, asked: workspace_arguments.ReadMyNotes) -> ToolAnswer:
    """The notes as they are."""
    pad = pads.read(principal=principal)
    if not pad.text:
        return ToolAnswer(text=_("You have no notes here."), data=NotesData.of(pad))
    heading = _("Your notes, version %(version)s:") % {"version": pad.version}
    return ToolAnswer(text=f"{heading}\n{pad.text}", data=NotesData.of(pad))


def update_my_notes(principal: Principal, asked: workspace_arguments.UpdateMyNotes) -> ToolAnswer:
    """Other notes in place of those of a version."""
    pad = pads.update(principal=principal, text=asked.text, based_on_version=asked.based_on_version)
    told = _("Kept as version %(version)s: %(length)s of %(limit)s characters.")
    filled = {"version": pad.version, "length": len(pad.text), "limit": pads.MAX_NOTES}
    return ToolAnswer(text=told % filled, data=NotesData.of(pad))


def record_observation(principal: Principal, asked: workspace_arguments.RecordObservation) -> ToolAnswer:
    """Something noticed, kept as a source and in the notes."""
    seen = pads.record_observation(principal=principal, text=asked.text)
    told = _("Noted as %(ref)s. Name it as a source when you propose what follows from it.")
    return ToolAnswer(text=told % {"ref": seen.ref}, data=ObservationData.of(seen))


def remember(principal: Principal, asked: workspace_arguments.Remember) -> ToolAnswer:
    """Something kept until it is decided whether it lasts."""
    entry = hot.remember(principal=principal, **asked.model_dump())
    told = _("Remembered in “%(domain)s”, for you alone. It becomes a proposal when you consolidate your memory.")
    return ToolAnswer(text=told % {"domain": entry.domain}, data=HotEntryData.of(entry))
