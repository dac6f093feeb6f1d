"""A page and a task that fail on private text, beside the real ones."""

from __future__ import annotations

from celery import shared_task
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.urls import path

from gedaechtnis.config import urls


def in_the_database(text: str) -> None:
    """PostgreSQL quotes the values of the row in its message."""
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO django_session VALUES (%(m)s, '', now()), (%(m)s, '', now())", {"m": text})


def in_python(text: str) -> None:
    """The exception, its cause and its notes quote what somebody typed."""
    try:
        int(text)
    except ValueError as error:
        error.add_note(text)
        raise RuntimeError(f"cannot read {text}") from error


def page(request: HttpRequest, kind: str, searched: str) -> HttpResponse:
    (in_the_database if kind == "database" else in_python)(searched)
    return HttpResponse()


urlpatterns = [path("failing/<str:kind>/<str:searched>/", page), *urls.urlpatterns]


@shared_task(name="tests.fail")
def fail(kind: str, text: str) -> None:
    (in_the_database if kind == "database" else in_python)(text)
