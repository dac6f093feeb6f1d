"""Where each door begins."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.urls import include, path
from django.views import defaults

from gedaechtnis.api import errors

_API = "api/"

admin.site.site_header = "Gedächtnis"
admin.site.site_title = "Gedächtnis"

urlpatterns = [
    path("admin/", admin.site.urls),
    path("i18n/", include("django.conf.urls.i18n")),
    path(_API, include("gedaechtnis.api.urls")),
    path("anmelden/bei/", include("gedaechtnis.identity.oidc.urls")),
    path("", include("gedaechtnis.web.urls")),
]


def handler400(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Refusals of Django itself, before any door: programs get a problem document, people a page."""
    if request.path_info.startswith(f"/{_API}"):
        return errors.refused_at_the_gate(exception)
    return defaults.bad_request(request, exception)
