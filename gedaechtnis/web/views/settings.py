"""Settings: language, time zone, appearance."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from gedaechtnis.memory import spaces
from gedaechtnis.web.forms import SettingsForm
from gedaechtnis.web.http import PersonRequest, private, show
from gedaechtnis.web.views.session import keep_language

_YEAR = 365 * 24 * 3600


@require_http_methods(["GET", "POST"])
@private
def edit(request: PersonRequest) -> HttpResponse:
    """Show and save what a person chose."""
    user = request.user
    initial = {"language": user.language, "time_zone": user.time_zone, "theme": request.COOKIES.get("theme", "auto")}
    form = SettingsForm(request.POST or None, initial=initial)
    if request.method != "POST" or not form.is_valid():
        context = {"nav": "settings", "section": "general", "form": form, "finds_by_meaning": spaces.is_on()}
        return show(request, "settings/edit.html", "settings-form", context, status=422 if form.errors else 200)
    form.save(user)
    response = redirect("settings")
    keep_language(response, form.cleaned_data["language"])
    response.set_cookie(
        "theme",
        form.cleaned_data["theme"],
        max_age=_YEAR,
        httponly=True,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )
    with translation.override(form.cleaned_data["language"]):
        messages.success(request, _("Saved."))
    return response
