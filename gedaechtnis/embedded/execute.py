"""One command with the services around it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from types import FrameType

from gedaechtnis.embedded.errors import EmbeddedError
from gedaechtnis.embedded.process import dies_with_parent


def execute(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run the command to its end and return its exit code (128 + n after signal n).

    On a terminal it shares our foreground group and gets Ctrl-C from the kernel; elsewhere it
    has a session of its own and SIGINT is passed on, so that it never gets the signal twice.
    SIGTERM is always passed on. Raises EmbeddedError if there is no such command.
    """
    on_terminal = sys.stdin.isatty()
    pending: list[int] = []
    child: subprocess.Popen[bytes] | None = None

    def pass_on(signum: int, frame: FrameType | None) -> None:
        if on_terminal and signum == signal.SIGINT:
            return
        if child is None:
            pending.append(signum)
        else:
            child.send_signal(signum)

    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, pass_on)
    try:
        child = subprocess.Popen(
            command,
            env={**os.environ, **environment},
            start_new_session=not on_terminal,
            preexec_fn=dies_with_parent(signal.SIGTERM),
        )
    except (FileNotFoundError, PermissionError) as error:
        raise EmbeddedError(f"Cannot run {command[0]}: {error.strerror}.") from error
    for waiting in pending:
        child.send_signal(waiting)
    code = child.wait()
    return code if code >= 0 else 128 - code
