from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from django.utils import timezone, translation

from gedaechtnis.common import clock

NOW = datetime(2026, 11, 30, 9, 30, tzinfo=UTC)


@pytest.fixture(autouse=True)
def reader() -> Iterator[None]:
    """A reader in Berlin who reads English, on the last day of November."""
    with timezone.override("Europe/Berlin"), translation.override("en"), clock.frozen(NOW):
        yield
