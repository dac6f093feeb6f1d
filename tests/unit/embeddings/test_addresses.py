"""How models are named."""

from __future__ import annotations

import pytest

from gedaechtnis.embeddings import addresses


@pytest.mark.parametrize(
    ("address", "model", "url", "dimensions"),
    [
        ("openai:text-3-small@https://api.example/v1#1536", "text-3-small", "https://api.example/v1", 1536),
        ("openai:bge-m3:latest@http://localhost:11434/v1/#1024", "bge-m3:latest", "http://localhost:11434/v1", 1024),
        ("openai:BAAI/bge-m3@http://10.0.0.7/v1#1024", "BAAI/bge-m3", "http://10.0.0.7/v1", 1024),
    ],
)  # fmt: skip
def test_an_endpoint_is_model_place_and_size(address: str, model: str, url: str, dimensions: int) -> None:
    found = addresses.endpoint(addresses.check(address))
    assert (found.model, found.url, found.dimensions) == (model, url, dimensions)
    assert found.name == f"{model}/{dimensions}"


@pytest.mark.parametrize(
    "address",
    [
        "",
        "Bundled",
        "openai:",
        "openai:m@https://api.example/v1",
        "openai:m@https://api.example/v1#0",
        "openai:m@https://api.example/v1#4001",
        "openai:m@ftp://api.example/v1#8",
        "openai:m@https://#8",
        "openai:m@https://user:secret@api.example/v1#8",
        "openai:m@https://api.example/v1?key=secret#8",
        "openai:m'; DROP TABLE users@https://api.example/v1#8",
        "bundled\n",
    ],
)
def test_anything_else_is_refused_in_words(address: str) -> None:
    with pytest.raises(ValueError, match="must be bundled, none, or openai:") as refusal:
        addresses.check(address)
    assert "secret" not in str(refusal.value)
