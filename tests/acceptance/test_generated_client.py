"""A client generated from the OpenAPI document speaks with a real server."""

from __future__ import annotations

import importlib
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from gedaechtnis.identity.models import User
from gedaechtnis.identity.tokens import create_token
from tests.conftest import make_user
from tests.stack import Stack

pytestmark = pytest.mark.slow
CONFIG = Path(__file__).with_name("client.yml")
_PACKAGE = "generated_memory_client"

Calls = Callable[[str], Any]


@pytest.fixture(scope="module")
def calls(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """`calls("facts.get_fact")`: the module of an operation in the generated client."""
    folder = tmp_path_factory.mktemp("client")
    document = folder / "openapi.json"
    with urlopen(f"{stack.url}/api/openapi.json", timeout=20) as response:  # noqa: S310 (our own server)
        document.write_bytes(response.read())
    tool = [str(Path(sys.executable).with_name("openapi-python-client")), "generate", "--meta", "none", "--overwrite"]
    tool += ["--path", str(document), "--config", str(CONFIG), "--output-path", str(folder / _PACKAGE)]
    done = subprocess.run(tool, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stdout + done.stderr  # no operation was left out
    sys.path.insert(0, str(folder))
    try:
        yield lambda name: importlib.import_module(f"{_PACKAGE}.{name}")
    finally:
        sys.path.remove(str(folder))
        for name in [name for name in sys.modules if name.partition(".")[0] == _PACKAGE]:
            del sys.modules[name]


def client_of(calls: Calls, stack: Stack, user: User) -> Any:
    _token, secret = create_token(user=user, name="generated")
    return calls("client").AuthenticatedClient(base_url=stack.url, token=secret, raise_on_unexpected_status=True)


def test_a_memory_is_told_asked_corrected_and_taken_along(anna: User, stack: Stack, calls: Calls) -> None:
    models = calls("models")
    with client_of(calls, stack, anna) as client, client_of(calls, stack, make_user("dora")) as dora:
        told = calls("api.proposals.propose").sync(
            client=client,
            idempotency_key="first",
            body=models.MemoryMutationProposal.from_dict(
                {
                    "operations": [
                        {"op": "upsert_entity", "id_hint": "pet:luna", "kind": "pet", "canonical_name": "Luna"},
                        {
                            "op": "assert_fact",
                            "subject_ref": "pet:luna",
                            "predicate": "feeding_time_morning",
                            "object_value": "07:00",
                            "valid_from": "2026-03-01",
                        },
                    ]
                }
            ),
        )
        assert [result.outcome for result in told.results] == ["committed", "committed"]
        facts_of = calls("api.entities.list_entity_facts").sync
        asked = facts_of("pet:luna", client=client, predicate="feeding_time_morning")
        (fact,) = asked.items
        assert (fact.object_.value, fact.status) == ("07:00", "active")

        corrected = calls("api.facts.correct_fact").sync(
            fact.id, client=client, body=models.CorrectIn.from_dict({"object_value": "08:00"})
        )
        assert corrected.outcome == "committed"
        before = facts_of("pet:luna", client=client, known_at=asked.basis)
        assert "07:00" in [row.object_.value for row in before.items]
        assert calls("api.facts.invalidate_fact").sync(corrected.fact_id, client=client).outcome == "committed"
        restored = calls("api.facts.restore_fact").sync(corrected.fact_id, client=client)
        assert len(restored.fact_ids) == 1

        missing = calls("api.entities.get_entity").sync_detailed("pet:nobody", client=client)
        assert (missing.status_code, missing.parsed.code) == (404, "not_found")

        # Taken along to another person's new memory.
        file = calls("api.export.export_own").sync(client=client)
        received = calls("api.export.import_memory").sync(client=dora, body=file)
        deadline = time.monotonic() + 60
        while (seen := calls("api.export.get_import").sync(received.id, client=dora)).state == "running":
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert seen.state == "done"
        again = facts_of("pet:luna", client=dora, predicate="feeding_time_morning")
        assert [row.object_.value for row in again.items] == ["08:00"]
