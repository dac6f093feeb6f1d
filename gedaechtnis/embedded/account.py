"""Who the services run as, and where that account can reach their files.

PostgreSQL refuses to run as root. Started by root, both services therefore run as an
unprivileged account: `gedaechtnis` if the machine has one, else `nobody`. Started by anybody
else they run as that person.
"""

from __future__ import annotations

import hashlib
import os
import pwd
import shutil
import subprocess
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from gedaechtnis.embedded.console import say
from gedaechtnis.embedded.errors import EmbeddedError

_CANDIDATES = ("gedaechtnis", "nobody")
_FALLBACK = Path("/var/lib/gedaechtnis")
_FALLBACK_LINK = "services"


@dataclass(frozen=True)
class Account:
    """The operating-system account of the services; `None` ids mean "as we are"."""

    uid: int | None = None
    gid: int | None = None

    @classmethod
    def choose(cls) -> Account:
        """The account for services started by this process.

        Raises EmbeddedError if root finds no unprivileged account.
        """
        if os.geteuid() != 0:
            return cls()
        for name in _CANDIDATES:
            try:
                entry = pwd.getpwnam(name)
            except KeyError:
                continue
            return cls(entry.pw_uid, entry.pw_gid)
        raise EmbeddedError(f"PostgreSQL does not run as root, and none of the accounts {_CANDIDATES} exists.")

    @property
    def popen_options(self) -> dict[str, Any]:
        """Arguments for `subprocess` that make the child run as this account."""
        return {} if self.uid is None else {"user": self.uid, "group": self.gid, "extra_groups": []}

    def reaches(self, path: Path) -> bool:
        """Whether the account may enter a directory or run a program."""
        if self.uid is None:
            return os.access(path, os.X_OK)
        command = ["/usr/bin/test", "-x", str(path)]
        return subprocess.run(command, check=False, cwd="/", **self.popen_options).returncode == 0

    def private_directory(self, path: Path) -> Path:
        """Create a directory that only this account (and root) can enter."""
        path.mkdir(mode=0o700, exist_ok=True)
        self.own(path)
        return path

    def own(self, path: Path) -> None:
        """Make the account the owner of a file or directory."""
        if self.uid is not None:
            os.chown(path, self.uid, self.gid or 0)


def package_root(name: str, program: str, state: Path, account: Account) -> Path:
    """The directory that holds an installed distribution's folders, so that `program` below it runs.

    Usually site-packages; a copy in `state` if the account cannot get there, which happens when
    the virtual environment lies below a private directory such as /root.
    Raises EmbeddedError if the distribution is not installed or was not built for this machine.
    """
    try:
        distribution = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        raise EmbeddedError(f"The package {name} is not installed; run `make run`.") from None
    installed = Path(str(distribution.locate_file("")))
    if not (installed / program).exists():
        raise EmbeddedError(f"The package {name} has no {program} for this machine; use a server of your own.")
    if account.reaches(installed / program):
        return installed
    copy = state / f"{name}-{distribution.version}"
    if not copy.exists():
        partial = copy.with_name(f"{copy.name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        # Libraries lie in a folder of their own beside the package and are found by relative path.
        for folder in {file.parts[0] for file in distribution.files or () if len(file.parts) > 1} - {".."}:
            shutil.copytree(installed / folder, partial / folder, symlinks=True)
        _open_for_all(partial)
        partial.rename(copy)
    return copy


def _open_for_all(tree: Path) -> None:
    for path in [tree, *tree.rglob("*")]:
        if not path.is_symlink():
            mode = path.stat().st_mode
            path.chmod(mode | (0o055 if mode & 0o100 else 0o044))


def state_directory(var: Path, account: Account) -> Path:
    """Where the services' files live: `var`, or a place outside it that the account can reach.

    The place is remembered as a symbolic link in `var`, so it follows a project that is moved.
    """
    if not var.exists():
        var.mkdir(parents=True)
        var.chmod(0o755)
    if account.reaches(var):
        return var
    link = var / _FALLBACK_LINK
    if not link.is_symlink():
        digest = hashlib.sha256(str(var).encode()).hexdigest()[:12]
        link.symlink_to(_FALLBACK / f"{var.parent.name}-{digest}")
    state = link.readlink()
    state.mkdir(parents=True, exist_ok=True)
    for directory in (_FALLBACK, state):
        directory.chmod(0o755)
    say(f"{var} is closed to the account of the services; their data is in {state}")
    return state
