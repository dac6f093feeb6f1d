"""Passwords and keys: made once, kept in files only their owner can read."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path

_FILE = "credentials.json"
_SAMPLE_FILE = "sample-password"


@dataclass(frozen=True)
class Credentials:
    """One password per database role and for Valkey, and Django's secret key."""

    superuser: str
    owner: str
    app: str
    backup: str
    valkey: str
    secret_key: str

    @classmethod
    def load(cls, state: Path) -> Credentials:
        """Read the credentials of a state directory, or make them at the first start."""
        path = state / _FILE
        if path.exists():
            return cls(**json.loads(path.read_text()))
        made = cls(*(secrets.token_urlsafe(48) for _ in cls.__dataclass_fields__))
        write_private(path, json.dumps(asdict(made), indent=2))
        return made


def sample_password(state: Path) -> str:
    """The password of the sample people: from the environment, else made once and kept."""
    if given := os.environ.get("GEDAECHTNIS_SAMPLE_PASSWORD"):
        return given
    path = state / _SAMPLE_FILE
    if not path.exists():
        write_private(path, f"{secrets.token_urlsafe(9)}\n")
    return path.read_text().strip()


def write_private(path: Path, content: str) -> None:
    """Write a file with mode 0600, whole or not at all."""
    partial = path.with_name(f"{path.name}.partial")
    partial.unlink(missing_ok=True)
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
