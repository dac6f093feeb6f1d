"""Signing in and out, and the language."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView, LogoutView
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import translation
from django.views.decorators.http import require_POST

from gedaechtnis.identity import backends
from gedaechtnis.identity.oidc.views import ways
from gedaechtnis.web.http import safe_next

_CHOSEN = "chosen_language"
"""Where a session holds the language that a person chose before signing in."""


class SignIn(LoginView):
    """Name and password. The language chosen here goes with the person."""

    template_name = "session/login.html"
    redirect_authenticated_user = True
    next_page = "home"

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        user = form.get_user()
        # Not the cookie's: in a browser of several people that is the language of whoever was here last.
        chosen = self.request.session.pop(_CHOSEN, user.language)
        if chosen != user.language:
            user.language = chosen
            user.save(update_fields=["language"])
        response = super().form_valid(form)
        keep_language(response, user.language)
        return response

    def render_to_response(self, context: dict[str, Any], **response_kwargs: Any) -> HttpResponse:
        form = context["form"]
        refusal = _refusal(form)
        if form.errors:
            response_kwargs["status"] = backends.REFUSALS[refusal.code] if refusal else 422
        response = super().render_to_response(
            {**context, "refusal": refusal, "ways": ways(self.request)}, **response_kwargs
        )
        if refusal and refusal.params:
            response["Retry-After"] = str(refusal.params["retry_after"])
        response["Cache-Control"] = "no-store"
        return response


def _refusal(form: AuthenticationForm) -> ValidationError | None:
    """Why the password was not even looked at."""
    errors = form.errors.as_data().get(NON_FIELD_ERRORS, [])
    return next((error for error in errors if error.code in backends.REFUSALS), None)


class SignOut(LogoutView):
    """POST only; ends at the sign-in page."""

    next_page = "login"


@require_POST
def language(request: HttpRequest) -> HttpResponse:
    """Choose the language, signed in or not."""
    response = HttpResponseRedirect(safe_next(request, reverse("home")))
    chosen = request.POST.get("language", "")
    if chosen in dict(settings.LANGUAGES):
        keep_language(response, chosen)
        if request.user.is_authenticated:
            request.user.language = chosen
            request.user.save(update_fields=["language"])
        else:
            request.session[_CHOSEN] = chosen
        translation.activate(chosen)
    return response


def keep_language(response: HttpResponse, chosen: str) -> None:
    """Remember the language in the browser, for the pages before sign-in."""
    response.set_cookie(
        settings.LANGUAGE_COOKIE_NAME,
        chosen,
        max_age=365 * 24 * 3600,
        httponly=True,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )
