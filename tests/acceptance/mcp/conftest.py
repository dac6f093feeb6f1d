from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import person
from gedaechtnis.identity.tokens import create_token
from gedaechtnis.knowledge.policy_changes import propose_policy
from tests.acceptance.api.support import LUNA, fact, propose
from tests.conftest import ApiClient
from tests.stack import ROOT

Use = Callable[[Client], Awaitable[Any]]


def ask(address: str, secret: str | None, use: Use, *, mode: str = "auto", **headers: str) -> Any:
    """What `use` returns of a session of the SDK's own client at an address."""
    given = {**({"Authorization": f"Bearer {secret}"} if secret else {}), **headers}

    async def session() -> Any:
        async with (
            httpx2.AsyncClient(headers=given, timeout=30) as http,
            Client(streamable_http_client(f"{address}/mcp", http_client=http), mode=mode) as client,
        ):
            return await use(client)

    return asyncio.run(session())


@pytest.fixture
def secret_of(database: None) -> Callable[..., str]:
    """`secret_of(anna, read_only=True)`: a token of hers."""
    return lambda user, **options: create_token(user=user, name="mcp", **options)[1]


@pytest.fixture
def anna_with_luna(anna: User) -> User:
    _token, secret = create_token(user=anna, name="told")
    propose(ApiClient(secret), LUNA, fact("likes", "Lachs"), fact("feeding_time_morning", "07:00"), run_id="r-1")
    propose_policy(principal=person(anna), rule="Nach 22 Uhr keine Meldungen", name="Quiet")
    return anna


def environment() -> dict[str, str]:
    """Of a process that serves as the application's role."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("DATABASE_OWNER")}
    return {**kept, "DJANGO_SETTINGS_MODULE": "gedaechtnis.config.settings.test", "PYTHONUNBUFFERED": "1"}


def run_mcp(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """`manage.py mcp` with nobody at its stdin."""
    return subprocess.run(
        [".venv/bin/python", "manage.py", "mcp", *arguments],
        cwd=ROOT,
        env={**environment(), **more},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
