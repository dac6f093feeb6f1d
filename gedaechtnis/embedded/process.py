"""Child processes that never outlive their parent, and what a killed parent left behind."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from gedaechtnis.embedded.errors import EmbeddedError

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def dies_with_parent(signum: signal.Signals) -> Callable[[], None]:
    """A `preexec_fn`: the child gets `signum` when its parent is gone, even by `kill -9`.

    Linux only; elsewhere it does nothing. Must be used from the main thread, as the kernel
    takes the end of the starting *thread* for the end of the parent.
    """
    parent = os.getpid()

    def prepare() -> None:
        if _LIBC is not None:
            _LIBC.prctl(_PR_SET_PDEATHSIG, int(signum), 0, 0, 0)
            if os.getppid() != parent:
                os.kill(os.getpid(), signum)

    return prepare


def stop(process: subprocess.Popen[bytes], signum: signal.Signals, timeout: float) -> bool:
    """Ask a child to end and wait; kill it after `timeout` seconds. Returns whether it went by itself."""
    if process.poll() is None:
        process.send_signal(signum)
    try:
        process.wait(timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return False
    return True


def end_stale(pid_file: Path, directory: Path, signum: signal.Signals, timeout: float = 60) -> None:
    """End the server a dead supervisor left in `directory`, and remove its pid file.

    A number in a pid file proves nothing: after `kill -9` it may be a zombie, after a reboot
    another program. Only a process that works in `directory` is the server. Where there is no
    /proc, the server's own guard against a second start decides.

    Raises EmbeddedError if the server does not end within `timeout` seconds.
    """
    if not pid_file.exists() or not Path("/proc/self/cwd").exists():
        return
    first_word = pid_file.read_text().split()[:1]
    pid = int(first_word[0]) if first_word and first_word[0].isdigit() else None
    deadline = time.monotonic() + timeout
    while pid is not None and _works_in(pid, directory):
        if time.monotonic() > deadline:
            raise EmbeddedError(f"Process {pid} still uses {directory} and does not end.")
        _signal_if_alive(pid, signum)
        time.sleep(0.1)
    pid_file.unlink(missing_ok=True)


def _works_in(pid: int, directory: Path) -> bool:
    try:
        return Path(f"/proc/{pid}/cwd").readlink() == directory
    except OSError:  # gone, a zombie, or somebody else's
        return False


def _signal_if_alive(pid: int, signum: signal.Signals) -> None:
    try:
        os.kill(pid, signum)
    except ProcessLookupError:
        return
