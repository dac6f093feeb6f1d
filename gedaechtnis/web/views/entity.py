"""The page of one thing: what is believed about it, at any moment."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe
from django_htmx.http import push_url

from gedaechtnis.common import clock
from gedaechtnis.common.problems import NotFound, Problem
from gedaechtnis.memory.answers import EntityView, FactView, Timeline
from gedaechtnis.memory.selectors import asof as reads
from gedaechtnis.memory.selectors import entities, explain, proposals
from gedaechtnis.memory.selectors.explain import Explanation
from gedaechtnis.memory.services import facts
from gedaechtnis.web import asof, comparison
from gedaechtnis.web.asof import Axis, Moment
from gedaechtnis.web.http import PersonRequest, done, only_posted, private, show, wants_fragment
from gedaechtnis.web.scopes import entity_key

_SLIDER = "asof-step"
_MAX_EARLIER = 25
"""How many past beliefs a page shows at once; `?earlier=all` shows all of them."""


@require_safe
@private
def detail(request: PersonRequest, ref: str) -> HttpResponse:
    """The page at a moment; as a fragment, all that depends on the moment."""
    entity = entities.get_entity(principal=request.principal, ref=ref)
    return _page(request, entity)


@only_posted
@private
def note(request: PersonRequest, ref: str) -> HttpResponse:
    """Remark on it, for oneself or for a group."""
    entity = entities.get_entity(principal=request.principal, ref=ref)
    text, place = request.POST.get("text", "").strip(), request.POST.get("scope") or request.principal.default_scope
    try:
        if not text:
            raise Problem("empty_text", _("Write something first."), field="text")
        facts.add_note(principal=request.principal, entity_id=entity.id, text=text, scope_ref=place)
    except Problem as problem:
        form = {"note": text, "place": place, "problem": problem}
        if not wants_fragment(request):
            return _page(request, entity, **form)
        response = render(request, "entity/detail.html#entity-note", {**_note(request, entity), **form}, status=422)
        response["HX-Retarget"] = "#entity-note"
        response["HX-Reswap"] = "outerHTML"
        return response
    return done(request, back=reverse("entity", args=[entity_key(entity)]), message=_("Noted."))


def _note(request: PersonRequest, entity: EntityView) -> dict[str, Any]:
    """The form for a note. Only the person reads what no other place is chosen for."""
    places = request.scopes.writable_about(entity.scope_ref)
    return {"entity": entity, "places": places, "place": request.principal.default_scope}


def _page(request: PersonRequest, entity: EntityView, **form: Any) -> HttpResponse:
    timeline = reads.timeline(principal=request.principal, entity_id=entity.id)
    now, zone = clock.now(), request.principal.zone
    chosen = asof.from_bar(request.GET, zone=zone, now=now, timeline=timeline)
    moment = chosen or asof.from_address(request.GET, zone=zone, now=now)
    page = reverse("entity", args=[entity_key(entity)])
    address = page + moment.query
    if chosen and not wants_fragment(request):
        return HttpResponseRedirect(address)
    context = {
        "nav": "explorer",
        "page": page,
        "address": address,
        **_note(request, entity),
        **_bar(request, timeline, moment),
        **_beliefs(request, entity, moment),
        **form,
    }
    status = 422 if form else 200
    response = show(request, "entity/detail.html", "entity-moment", context, status=status)
    if wants_fragment(request) and not request.GET.get("refresh"):
        push_url(response, address)
    return response


def _bar(request: PersonRequest, timeline: Timeline, moment: Moment) -> dict[str, Any]:
    axis = Axis.KNOWN if moment.axis is Axis.KNOWN else Axis.VALID
    steps = asof.steps(timeline, axis=axis, now=clock.now())
    return {
        "moment": moment,
        "axis": axis,
        "axes": [(Axis.VALID, moment.on(Axis.VALID)), (Axis.KNOWN, moment.on(Axis.KNOWN))],
        "steps": steps,
        "current_step": steps[asof.current_step(steps, moment)],
        "moves_slider": request.htmx.trigger != _SLIDER,
        "now": clock.now(),
    }


def _beliefs(request: PersonRequest, entity: EntityView, moment: Moment) -> dict[str, Any]:
    principal, valid_at, known_at = request.principal, moment.valid_at, moment.known_at
    answer = reads.entity_facts(principal=principal, entity_id=entity.id, valid_at=valid_at, known_at=known_at)
    inward = reads.inbound_facts(principal=principal, entity_id=entity.id, valid_at=valid_at, known_at=known_at)
    then = answer.facts
    # A symmetric tie ("married to") is stored from both ends and said once.
    outbound = [fact for fact in then if fact.object.kind == "entity"]
    said = {(fact.predicate, fact.object.entity_id) for fact in outbound}
    inbound = [fact for fact in inward.facts if (fact.predicate, fact.subject_id) not in said]
    today = None if moment.is_now else reads.entity_facts(principal=principal, entity_id=entity.id).facts
    rows = comparison.rows(then, today)
    history = reads.history(principal=principal, entity_id=entity.id) if moment.is_now else ()
    upcoming, over = _upcoming(history), _earlier(history)
    earlier = over if request.GET.get("earlier") == "all" else over[:_MAX_EARLIER]
    shown = {fact.id for fact in (*then, *upcoming, *earlier)}
    opened = _opened(request)
    focus = None if opened is None or opened in shown else _explained(request, opened)
    return {
        "rows": rows,
        "differences": sum(row.differs for row in rows),
        "outbound": outbound,
        "inbound": inbound,
        "upcoming": upcoming,
        "earlier": earlier,
        "earlier_hidden": len(over) - len(earlier),
        "open_fact": opened,
        "focus": focus,
        "questions": proposals.proposals_about(principal=principal, entity_id=entity.id) if moment.is_now else (),
    }


def _upcoming(history: tuple[FactView, ...]) -> tuple[FactView, ...]:
    """Beliefs about what will hold, the nearest first."""
    now = clock.now()
    ahead = [fact for fact in history if fact.valid_from is not None and fact.valid_from > now]
    return tuple(sorted(ahead, key=lambda fact: fact.valid_from or now))


def _earlier(history: tuple[FactView, ...]) -> tuple[FactView, ...]:
    """Beliefs that are over by now, the latest end first."""
    now = clock.now()
    over = [fact for fact in history if fact.valid_to is not None and fact.valid_to <= now]
    return tuple(sorted(over, key=lambda fact: fact.valid_to or now, reverse=True))


def _opened(request: PersonRequest) -> UUID | None:
    """The fact a link wants unfolded (`?fact=`)."""
    try:
        return UUID(request.GET["fact"]) if "fact" in request.GET else None
    except ValueError:
        return None


def _explained(request: PersonRequest, fact_id: UUID) -> Explanation | None:
    try:
        return explain.explain_fact(principal=request.principal, fact_id=fact_id)
    except NotFound:
        return None  # a link to a fact that is gone still opens the page
