"""How a model is named in settings and commands: `bundled`, or `openai:<model>@<base url>#<dimensions>`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

BUNDLED = "bundled"
NONE = "none"
MAX_DIMENSIONS = 4000
"""More cannot be indexed as half-precision vectors."""

FORM = "bundled, none, or openai:<model>@<base url>#<dimensions>"

_ENDPOINT = re.compile(
    r"openai:(?P<model>[A-Za-z0-9._:/-]{1,80})@(?P<url>https?://[^\s#?@]+)#(?P<dimensions>[1-9]\d{0,3})"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A model behind an address that speaks OpenAI's format."""

    model: str
    url: str
    dimensions: int

    @property
    def name(self) -> str:
        """What its vectors are kept under: the same model elsewhere makes the same vectors."""
        return f"{self.model}/{self.dimensions}"


def endpoint(address: str) -> Endpoint:
    """The parts of an `openai:` address. Raises ValueError, with the form it must have."""
    found = _ENDPOINT.fullmatch(address)
    if found is None or not urlsplit(found["url"]).hostname or int(found["dimensions"]) > MAX_DIMENSIONS:
        raise ValueError(f"must be {FORM}, with at most {MAX_DIMENSIONS} dimensions and no name or key in the address")
    return Endpoint(model=found["model"], url=found["url"].rstrip("/"), dimensions=int(found["dimensions"]))


def check(address: str) -> str:
    """The address as it stands. Raises ValueError, with the form it must have."""
    if address not in {BUNDLED, NONE}:
        endpoint(address)
    return address
