"""Where each door begins."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
    path("i18n/", include("django.conf.urls.i18n")),
    path("api/", include("gedaechtnis.api.urls")),
    path("anmelden/bei/", include("gedaechtnis.identity.oidc.urls")),
    path("", include("gedaechtnis.web.urls")),
]
