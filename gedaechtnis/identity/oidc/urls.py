"""Named as allauth names them, because it makes links from these names."""

from __future__ import annotations

from django.urls import path

from gedaechtnis.identity.oidc import views

urlpatterns = [
    path("<slug:provider_id>/", views.login, name="openid_connect_login"),
    path("<slug:provider_id>/zurueck/", views.callback, name="openid_connect_callback"),
]
