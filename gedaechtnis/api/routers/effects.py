"""What came of a run or an event."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from ninja import Query, Router

from gedaechtnis.api.auth import ApiRequest
from gedaechtnis.api.schemas.effects import EffectsIn, EventList
from gedaechtnis.common.problems import Problem
from gedaechtnis.memory.selectors import changes

router = Router(tags=["events"])


@router.get("/effects", response=EventList, summary="What came of a run or an event")
def list_effects(request: ApiRequest, filters: Query[EffectsIn]) -> dict[str, Any]:
    """The events of a run, or one event, with all that happened because of them, in order."""
    match filters.run, filters.event:
        case str(run), None:
            return {"items": changes.effects_of_run(principal=request.auth, run_id=run)}
        case None, event if event is not None:
            return {"items": changes.effects_of_event(principal=request.auth, event_id=event)}
        case _:
            raise Problem("conflicting_parameters", _("Name a run or an event."), field="run")
