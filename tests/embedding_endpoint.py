"""An embedding service for tests: a small real HTTP server in OpenAI's format that can be down, slow or wrong."""

from __future__ import annotations

import hashlib
import json
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DIMENSIONS = 64


def vector_of(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    """Texts that share words are near: each word is added in a direction of its own."""
    numbers = [0.0] * dimensions
    for word in text.lower().replace(".", " ").replace("?", " ").split():
        seed = hashlib.sha256(word.encode()).digest()
        for place in range(dimensions):
            numbers[place] += (seed[place % 32] ^ (place // 32 * 85)) / 127.5 - 1
    length = math.hypot(*numbers) or 1.0
    return [number / length for number in numbers]


@dataclass
class Service:
    """`odd` are texts answered otherwise; the other fields are ways to be wrong. `asked` is what came, by request."""

    url: str = ""
    dimensions: int = DIMENSIONS
    status: int = 200
    statuses: list[int] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    odd: dict[str, Any] = field(default_factory=dict)
    refuses: Callable[[list[str]], bool] = lambda texts: False
    answer: Callable[[list[dict[str, Any]]], Any] = lambda data: {"data": data}
    asked: list[list[str]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"openai:test-model@{self.url}#{self.dimensions}"

    def respond(self, texts: list[str]) -> tuple[int, str]:
        self.asked.append(texts)
        time.sleep(self.seconds)
        status = self.statuses.pop(0) if self.statuses else self.status
        if status == 200 and self.refuses(texts):
            status = 400
        if status != 200:
            return status, '{"error": {"message": "no"}}'
        data = [
            {"index": index, "embedding": self.odd.get(text, vector_of(text, self.dimensions))}
            for index, text in enumerate(texts)
        ]
        # As some services do: NaN, which is no JSON.
        return 200, json.dumps(self.answer(data))


@contextmanager
def running() -> Iterator[Service]:
    """The service on a free port."""
    service = Service()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            service.keys.append(self.headers.get("Authorization"))
            status, text = service.respond(body["input"]) if self.path == "/v1/embeddings" else (404, "{}")
            try:
                self.send_response(status)
                for name, value in service.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text.encode())
            except OSError:
                self.close_connection = True  # whoever asked did not wait

        def log_message(self, *arguments: Any) -> None:
            """Tests are quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    service.url = f"http://127.0.0.1:{server.server_port}/v1"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()
