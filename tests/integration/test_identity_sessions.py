"""A session is a new one at each sign-in, and ends by itself."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from gedaechtnis.common import clock
from gedaechtnis.identity.models import User
from gedaechtnis.identity.sessions import SessionStore

IDLE, LONGEST = timedelta(minutes=30), timedelta(hours=12)


def is_signed_in(client: Client) -> bool:
    return client.get("/einstellungen/").status_code == 200


def test_signing_in_makes_a_new_key_and_signing_out_ends_it(anna: User, settings: Any) -> None:
    client = Client()
    planted = client.session.session_key
    client.post("/anmelden/", {"username": "anna", "password": "geheim-anna"})
    key = client.cookies[settings.SESSION_COOKIE_NAME].value
    assert key != planted
    assert [row.session_key for row in Session.objects.all()] == [key]
    client.post("/abmelden/")
    client.cookies[settings.SESSION_COOKIE_NAME] = key
    assert not is_signed_in(client)


def test_it_ends_when_nothing_is_asked(anna: User, page_for: Callable[[User], Client]) -> None:
    client = page_for(anna)
    row = Session.objects.get()
    assert abs(row.expire_date - timezone.now() - IDLE) < timedelta(seconds=10)
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    assert not is_signed_in(client)


def test_asking_moves_its_end_on_but_not_at_each_request(anna: User, page_for: Callable[[User], Client]) -> None:
    client = page_for(anna)
    soon = timezone.now() + timedelta(seconds=20)
    Session.objects.update(expire_date=soon)
    assert is_signed_in(client)
    assert Session.objects.get().expire_date == soon
    with clock.frozen(clock.now() + timedelta(seconds=31)):
        assert is_signed_in(client)
    assert Session.objects.get().expire_date > soon + timedelta(minutes=29)


def test_it_ends_half_a_day_after_signing_in_whatever_is_asked(anna: User, page_for: Callable[[User], Client]) -> None:
    client = page_for(anna)
    key = Session.objects.get().session_key
    Session.objects.update(expire_date=timezone.now() + timedelta(days=30))
    start = clock.now()
    with clock.frozen(start + LONGEST - timedelta(minutes=1)):
        assert is_signed_in(client)
        assert SessionStore(key).load()["_auth_user_id"] == str(anna.pk)
    with clock.frozen(start + LONGEST):
        assert SessionStore(key).load() == {}, "open sockets ask this"
        assert client.get("/api/world/kinds").status_code == 401
        assert not is_signed_in(client)


def test_a_changed_password_ends_the_others(anna: User, page_for: Callable[[User], Client]) -> None:
    client = page_for(anna)
    anna.set_password("ein ganz neues Passwort")
    anna.save()
    assert not is_signed_in(client)


def test_cookies_are_for_the_server_alone(anna: User, settings: Any) -> None:
    cookie = Client().post("/anmelden/", {"username": "anna", "password": "geheim-anna"}).cookies
    session = cookie[settings.SESSION_COOKIE_NAME]
    assert session["httponly"]
    assert session["samesite"] == "Lax"
    assert session["max-age"] == IDLE.total_seconds()
