"""Every address under `/api`; those that do not exist answer with a problem document too."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import re_path

from gedaechtnis.api import errors
from gedaechtnis.api.api import api
from gedaechtnis.api.http import door

app_name = "api"


def _missing(_request: HttpRequest) -> HttpResponse:
    raise errors.no_such_route()


_routes, _app, _namespace = api.urls
for _route in _routes:
    if _route.callback is not None:
        _route.callback = door(api, _route.callback)

urlpatterns = [*_routes, re_path("", door(api, _missing))]
