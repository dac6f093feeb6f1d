"""An identity provider for tests: a small real HTTP server that signs, checks PKCE, and can lie where a test asks."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT_ID = "gedaechtnis"
CLIENT_SECRET = "a secret of the client"
_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
_FOREIGN_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)


@dataclass
class Issuer:
    """`claims` is who will sign in next; the other fields are ways to be wrong."""

    url: str = ""
    claims: dict[str, Any] = field(default_factory=lambda: {"sub": "1"})
    id_token: dict[str, Any] = field(default_factory=dict)
    userinfo: dict[str, Any] = field(default_factory=dict)
    discovery: dict[str, Any] = field(default_factory=dict)
    foreign_key: bool = False
    algorithm: str = "RS256"
    error: str | None = None
    asked: dict[str, dict[str, str]] = field(default_factory=dict)

    def configuration(self) -> dict[str, Any]:
        names = {"authorization": "authorize", "token": "token", "userinfo": "userinfo"}
        return {
            "issuer": self.url,
            **{f"{name}_endpoint": f"{self.url}/{path}" for name, path in names.items()},
            "jwks_uri": f"{self.url}/jwks",
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
            **self.discovery,
        }

    def keys(self) -> dict[str, Any]:
        key = jwt.algorithms.RSAAlgorithm.to_jwk(_KEY.public_key(), as_dict=True)
        return {"keys": [{**key, "kid": "one", "use": "sig", "alg": "RS256"}]}

    def authorize(self, query: dict[str, str]) -> str:
        if self.error:
            return f"{query['redirect_uri']}?{urlencode({'error': self.error, 'state': query['state']})}"
        code = f"code-{len(self.asked)}"
        self.asked[code] = query
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}"

    def token(self, form: dict[str, str]) -> dict[str, Any] | None:
        query = self.asked.pop(form.get("code", ""), None)
        if query is None or (form.get("client_id"), form.get("client_secret")) != (CLIENT_ID, CLIENT_SECRET):
            return None
        challenge = hashlib.sha256(form["code_verifier"].encode()).digest()
        if base64.urlsafe_b64encode(challenge).rstrip(b"=").decode() != query["code_challenge"]:
            return None
        now = int(time.time())
        claims = {"iss": self.url, "aud": CLIENT_ID, "iat": now, "exp": now + 300, **self.claims, **self.id_token}
        claims = {name: value for name, value in claims.items() if value is not None}
        key: Any = _FOREIGN_KEY if self.foreign_key else _KEY
        if self.algorithm == "HS256":
            key = CLIENT_SECRET.ljust(32)
        elif self.algorithm == "none":
            key = None
        signed = jwt.encode(claims, key, algorithm=self.algorithm, headers={"kid": "one"})
        return {"access_token": "access", "token_type": "Bearer", "expires_in": 300, "id_token": signed}


@contextmanager
def issuer() -> Iterator[Issuer]:
    """A provider of its own address, until the block ends."""
    about = Issuer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            match parts.path:
                case "/.well-known/openid-configuration":
                    self._answer(about.configuration())
                case "/jwks":
                    self._answer(about.keys())
                case "/authorize":
                    self._answer({}, 302, Location=about.authorize(query))
                case "/userinfo" if self.headers["Authorization"] == "Bearer access":
                    self._answer({**about.claims, **about.userinfo})
                case _:
                    self._answer({}, 404)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            token = about.token({name: values[0] for name, values in parse_qs(body).items()})
            self._answer(token or {"error": "invalid_grant"}, 200 if token else 400)

        def _answer(self, document: Any, status: int = 200, **headers: str) -> None:
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(json.dumps(document).encode())

        def log_message(self, *_arguments: Any) -> None:
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    about.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield about
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_arguments: Any) -> None:
        return None


def follow(url: str) -> str:
    """Where the provider sends the browser that came to `url`."""
    try:
        urllib.request.build_opener(_Stay).open(url)
    except urllib.error.HTTPError as answer:
        with answer:
            return str(answer.headers["Location"])
    raise AssertionError("the provider sends nobody back")
