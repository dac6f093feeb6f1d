"""Open proposals come to the person as one message in their main chat."""

from __future__ import annotations

from gedaechtnis.chat import services
from gedaechtnis.memory.selectors.proposals import list_proposals
from gedaechtnis.memory.writing.proposals import POST_REVIEW
from gedaechtnis.scoping import work


def register() -> None:
    work.handler(POST_REVIEW)(_post_review)


def _post_review(item: work.WorkItem) -> None:
    principal = item.person()
    waiting = [view.id for view in list_proposals(principal=principal) if view.scope_ref == item.scope_ref]
    if waiting:
        services.post_review_message(principal=principal, proposal_ids=waiting)
