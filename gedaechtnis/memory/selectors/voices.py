"""Who brought a statement up: the agent that proposed what a person accepted, else whoever stated it.

What the curator wrote down in a person's own words is the person's.
"""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from gedaechtnis.memory.references import as_uuid
from gedaechtnis.memory.schemas import Source
from gedaechtnis.world.models import Fact, Proposal

_ACCEPTED = "proposal-"
"""How the run is named in which a person accepts a proposal."""
_CURATOR = "curator@"


def voices(origin_ids: Iterable[UUID]) -> dict[UUID, str]:
    """Of each statement, by origin. In an open scope; what its reader may not see is left out."""
    stated = Fact.objects.filter(pk__in=list(origin_ids)).values_list("id", "run_id", "acted_by", "source")
    by = {id: _speaker(acted_by, source) for id, _run, acted_by, source in stated}
    runs = {as_uuid(run.removeprefix(_ACCEPTED)): id for id, run, *_ in stated if run and run.startswith(_ACCEPTED)}
    # Anybody may name a run like this: only the proposal itself says what became of it.
    accepted = Proposal.objects.filter(pk__in=[id for id in runs if id], state=Proposal.State.ACCEPTED)
    for id, fact_id, proposed_by in accepted.values_list("id", "fact_id", "proposed_by"):
        if runs[id] == fact_id:
            by[fact_id] = proposed_by
    return by


def _speaker(acted_by: str, source: str) -> str:
    return acted_by.removeprefix(_CURATOR) if source == Source.USER_ASSERTION else acted_by
