"""The cast and the database.

Tests run against a real PostgreSQL as the application's role, with real transactions: a wrapping
test transaction would hide a missing scope. After each test that used the database, the owner's
connection empties what it wrote. Start them with `make test` (or `embedded exec -- pytest …`).
With `-n` they run in several processes, file by file; no two of these share a server.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest
from asgiref.sync import async_to_sync
from django.core.management import call_command
from django.db import connections
from django.test import Client
from hypothesis import HealthCheck, settings

from gedaechtnis.embedded import services
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal, person
from gedaechtnis.identity.tokens import create_token
from tests.emptying import emptier
from tests.stack import Stack

# How long an example takes says what else the machine does.
settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with a running worker, which would take work away from others, or a browser's event loop come last."""
    lively = {item.path for item in items if not {"stack", "browser"}.isdisjoint(getattr(item, "fixturenames", ()))}
    items.sort(key=lambda item: item.path in lively)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config, specs: list[Any]) -> None:
    """The first process uses the services around pytest; each further one gets some of its own, in a directory there.

    Roles, sessions, locks and queues belong to a whole server, so a database of one's own would not be enough.
    """
    if "DATABASE_ADMIN_URL" not in os.environ:  # unit tests alone
        return
    with psycopg.connect(os.environ["DATABASE_ADMIN_URL"]) as admin:
        (data,) = admin.execute("SHOW data_directory").fetchone() or ()
    running = ExitStack()
    config.add_cleanup(running.close)
    for spec in specs[1:]:
        own = running.enter_context(services.running(Path(data).with_name(spec.id), fresh=True))
        spec.env.update(own.full_environment())


@pytest.fixture(scope="session")
def django_db_setup(django_db_blocker: Any) -> Callable[[], None]:
    """Migrate the database that `embedded exec --fresh` made empty; returns what empties it again."""
    if "DATABASE_ADMIN_URL" not in os.environ:
        pytest.exit("Tests need the bundled services: run `make test`.", returncode=2)
    with django_db_blocker.unblock():
        call_command("setup", verbosity=0)
    empty = emptier()
    empty()
    return empty


@pytest.fixture
def database(django_db_setup: Callable[[], None], django_db_blocker: Any) -> Iterator[None]:
    """Opens the real database for a test, and empties it afterwards."""
    with django_db_blocker.unblock():
        yield
        connections.close_all()
    django_db_setup()


@pytest.fixture
def admin_connection(database: None) -> Iterator[psycopg.Connection[Any]]:
    """The superuser's view of the database: what is really stored."""
    with psycopg.connect(os.environ["DATABASE_ADMIN_URL"], autocommit=True) as admin:
        yield admin


def make_user(name: str) -> User:
    """A person of the cast; the password is `geheim-<name>`."""
    user = User(username=name, first_name=name.capitalize(), language="de", time_zone="Europe/Berlin")
    user.set_password(f"geheim-{name}")
    user.save()
    return user


@pytest.fixture
def anna(database: None) -> User:
    """The owner of the memory under test."""
    return make_user("anna")


@pytest.fixture
def ben(database: None) -> User:
    """Shares a group with Anna where a test says so."""
    return make_user("ben")


@pytest.fixture
def clara(database: None) -> User:
    """The stranger: shares nothing with anybody."""
    return make_user("clara")


@pytest.fixture
def as_anna(anna: User) -> Principal:
    return person(anna)


@pytest.fixture
def as_clara(clara: User) -> Principal:
    return person(clara)


def text_of(response: Any) -> str:
    """The body of an answer, also of one that is sent in pieces."""
    if not response.streaming:
        return str(response.content.decode())

    async def collect() -> bytes:
        return b"".join([piece async for piece in response])

    return async_to_sync(collect)().decode()


class ApiClient:
    """A test client with a bearer token that speaks JSON."""

    def __init__(self, secret: str | None, **headers: str) -> None:
        self._client = Client(raise_request_exception=False)
        self._headers = {**({"Authorization": f"Bearer {secret}"} if secret else {}), **headers}

    def get(self, path: str, params: dict[str, Any] | None = None, **headers: str) -> Any:
        return self._client.get(path, params, headers={**self._headers, **headers})

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        text = body if isinstance(body, str | bytes) else json.dumps({} if body is None else body)
        return self._client.post(path, text, content_type="application/json", headers={**self._headers, **headers})

    def patch(self, path: str, body: Any, **headers: str) -> Any:
        sent = {**self._headers, **headers}
        return self._client.patch(path, json.dumps(body), content_type="application/json", headers=sent)

    def put(self, path: str, body: Any, **headers: str) -> Any:
        text = body if isinstance(body, str) else json.dumps(body)
        return self._client.put(path, text, content_type="application/json", headers={**self._headers, **headers})

    def delete(self, path: str, **headers: str) -> Any:
        return self._client.delete(path, headers={**self._headers, **headers})


@pytest.fixture
def client_for(database: None) -> Callable[..., ApiClient]:
    """`client_for(anna)` speaks as Anna; with `agent_role="assistant"` as an agent of hers."""

    def make(user: User | None, agent_role: str = "", **options: Any) -> ApiClient:
        if user is None:
            return ApiClient(None)
        _token, secret = create_token(user=user, name="test", agent_role=agent_role, **options)
        return ApiClient(secret)

    return make


@pytest.fixture
def page_for(database: None) -> Callable[[User], Client]:
    """A browser session signed in as a user."""

    def make(user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return make


@pytest.fixture(scope="session")
def stack(django_db_setup: Callable[[], None]) -> Iterator[Stack]:
    stack = Stack()
    try:
        stack.start()
        yield stack
    finally:
        stack.stop()
