"""Several commands as one: what one of them suffers, all of them do."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import FrameType

from gedaechtnis.embedded.console import say
from gedaechtnis.embedded.process import dies_with_parent

_STOP_SECONDS = 15.0
_POLL_SECONDS = 0.25


class Supervisor:
    """Runs named commands until one ends or a signal comes, then stops them all.

    `missing` names something else that they cannot live without and that is gone.
    Their output appears line by line behind their name. Use from the main thread only.
    """

    def __init__(
        self, environment: Mapping[str, str], directory: Path, missing: Callable[[], str | None] = lambda: None
    ) -> None:
        self._missing = missing
        self._environment = {**environment, "PYTHONUNBUFFERED": "1"}
        self._directory = directory
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        self._unfinished_lines: dict[str, bytes] = {}
        self._output = selectors.DefaultSelector()
        self._signals: list[int] = []

    def run(self, commands: Mapping[str, Sequence[str]]) -> int:
        """Run the commands; returns 0 after Ctrl-C or SIGTERM, 1 if one of them or a service ended by itself."""
        for signum in (signal.SIGINT, signal.SIGTERM):
            signal.signal(signum, self._remember)
        try:
            for name, command in commands.items():
                self._start(name, command)
            ended = self._watch()
            if ended is not None:
                say(f"{ended}; stopping everything")
            return 0 if ended is None else 1
        finally:
            self._stop()

    def _remember(self, signum: int, frame: FrameType | None) -> None:
        self._signals.append(signum)

    def _start(self, name: str, command: Sequence[str]) -> None:
        child = subprocess.Popen(
            command,
            env=self._environment,
            cwd=self._directory,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            # A session of its own: Ctrl-C reaches the supervisor alone, and its group can be ended whole.
            start_new_session=True,
            preexec_fn=dies_with_parent(signal.SIGTERM),
        )
        self._children[name] = child
        self._unfinished_lines[name] = b""
        if child.stdout is not None:
            os.set_blocking(child.stdout.fileno(), False)
            self._output.register(child.stdout, selectors.EVENT_READ, name)

    def _watch(self) -> str | None:
        """Pass on output until a signal (None), or until a child or a service has ended (which, in words)."""
        while not self._signals:
            self._pass_on_output()
            for name, child in self._children.items():
                if child.poll() is not None:
                    return f"{name} ended unexpectedly ({_describe(child.returncode)})"
            if gone := self._missing():
                return f"{gone} ended unexpectedly, see its log"
        say("stopping")
        return None

    def _stop(self) -> None:
        for child in self._children.values():
            if child.poll() is None:
                child.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + _STOP_SECONDS
        asked = len(self._signals)
        while any(child.poll() is None for child in self._children.values()):
            if time.monotonic() > deadline or len(self._signals) > asked:
                say("killing what has not stopped")
                break
            self._pass_on_output()
        for child in self._children.values():
            _kill_group(child.pid)
            child.wait()
        self._pass_on_output()
        for child in self._children.values():
            if child.stdout is not None:
                child.stdout.close()
        self._output.close()

    def _pass_on_output(self) -> None:
        for key, _ in self._output.select(_POLL_SECONDS):
            name = key.data
            chunk = os.read(key.fd, 65_536)
            if not chunk:
                self._output.unregister(key.fileobj)
                chunk = b"\n" if self._unfinished_lines[name] else b""
            *lines, self._unfinished_lines[name] = (self._unfinished_lines[name] + chunk).split(b"\n")
            for line in lines:
                say(line.decode(errors="replace"), name)


def _describe(code: int) -> str:
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def _kill_group(leader: int) -> None:
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        return
