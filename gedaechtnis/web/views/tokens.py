"""Settings, access: the tokens with which programs reach the memory."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from gedaechtnis.common import clock
from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.tokens import create_token, revoke_token
from gedaechtnis.web.forms import TokenForm
from gedaechtnis.web.http import PersonRequest, only_posted, private, show


@require_http_methods(["GET", "HEAD", "POST"])
@private
def index(request: PersonRequest) -> HttpResponse:
    """The person's tokens, and the form that makes one. A new one's secret is in this one answer and nowhere else."""
    form = TokenForm(request.POST or None, places=request.scopes.writable)
    made, secret = None, ""
    if request.method == "POST" and form.is_valid():
        try:
            made, secret = create_token(user=request.user, **form.options(clock.now()))
        except Problem as problem:
            form.add_error(problem.field, problem.detail)
        else:
            form = TokenForm(places=request.scopes.writable)
    now = clock.now()
    context = {
        "nav": "settings",
        "section": "tokens",
        "form": form,
        "made": made,
        "secret": secret,
        "tokens": [
            (token, token.expires_at is not None and token.expires_at <= now)
            for token in request.user.tokens.filter(revoked_at=None).order_by("-created_at")
        ],
    }
    return show(request, "tokens/index.html", "tokens", context, status=422 if form.errors else 200)


@only_posted
@private
def revoke(request: PersonRequest, token_id: UUID) -> HttpResponse:
    """It opens nothing any more."""
    token = revoke_token(user=request.user, token_id=token_id)
    messages.success(request, _("“%(name)s” opens nothing any more.") % {"name": token.name})
    return redirect("tokens")
