"""Whatever a caller sends: no failure of the server, and nothing that the OpenAPI document does not tell."""

from __future__ import annotations

import json
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from gedaechtnis.api.api import api
from gedaechtnis.identity.models import User
from gedaechtnis.identity.tokens import create_token
from gedaechtnis.memory.selectors import export
from tests.acceptance.api.support import LUNA, fact, propose
from tests.conftest import ApiClient
from tests.stack import Stack

pytestmark = pytest.mark.slow
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
EXAMPLES = 12


@schemathesis.serializer(export.MEDIA_TYPE)
def as_it_is(_context: Any, value: Any) -> bytes:
    """What is drawn for the body of an import, sent as a file."""
    return value if isinstance(value, bytes) else str(value).encode()


DOCUMENT = schemathesis.openapi.from_dict(json.loads(json.dumps(api.get_openapi_schema(path_prefix="/api/"))))
OPERATIONS = [found.ok() for found in DOCUMENT.get_all_operations()]


@pytest.fixture
def token(anna: User) -> str:
    """Something to find, and a fresh token for each operation, as each may ask so often a minute."""
    _token, secret = create_token(user=anna, name="test")
    propose(ApiClient(secret), LUNA, fact("likes", "Tuna"))
    return secret


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
def test_no_operation_fails_or_answers_what_is_not_documented(operation: Any, token: str, stack: Stack) -> None:
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def ask(case: Any) -> None:
        case.call_and_validate(
            base_url=stack.url, checks=CHECKS, headers={"Authorization": f"Bearer {token}"}, timeout=30
        )

    ask()
