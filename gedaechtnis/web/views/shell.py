"""What surrounds every page."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from gedaechtnis.web.http import PersonRequest, private, surroundings, wants_fragment


@require_safe
@private
def totals(request: PersonRequest) -> HttpResponse:
    """How much is remembered, for the foot of the page, and what waits for the person, for its head."""
    if not wants_fragment(request):
        return redirect("explorer")
    return render(request, "_totals.html", {**surroundings(request), "oob": True, "tab": "tabs" in request.GET})
