"""A chat import killed after some pieces, smaller ones: `python -m tests.killed_import <file> <user> <pieces>`."""

from __future__ import annotations

import os
import signal
import sys
from itertools import islice
from pathlib import Path

PIECE_MESSAGES = 100


def main(path: str, username: str, pieces: str) -> None:
    import django  # noqa: PLC0415 (first the settings, then the models)

    django.setup()
    from gedaechtnis.chat.imports import service  # noqa: PLC0415
    from gedaechtnis.chat.imports.files import ChatFiles  # noqa: PLC0415
    from gedaechtnis.identity.models import User  # noqa: PLC0415
    from gedaechtnis.identity.principals import person  # noqa: PLC0415

    service.PIECE_MESSAGES = PIECE_MESSAGES
    principal = person(User.objects.get(username=username))
    received = service.receive(principal=principal, files=ChatFiles.at(Path(path), zone=principal.zone))
    for _seen in islice(service.write(scope_ref=principal.default_scope, import_id=received.id), int(pieces)):
        pass
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(*sys.argv[1:])
