"""The command line; see `python -m gedaechtnis.embedded --help`."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import NoReturn

from gedaechtnis.embedded import external, services, stack
from gedaechtnis.embedded.console import say
from gedaechtnis.embedded.errors import EmbeddedError
from gedaechtnis.embedded.execute import execute

_DEFAULT_VAR = stack.PROJECT / "var"


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    options = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, _exit_on_signal)
    try:
        if options.command == "run":
            return stack.run(options.var, options.port)
        if options.command == "serve":
            return stack.serve(options.var, options.host, options.port, options.workers, options.trusted_proxies)
        if options.command == "backup":
            return stack.make_backup(options.var, options.to)
        if options.command == "restore":
            return stack.restore_backup(options.var, options.file)
        return _exec(options)
    except EmbeddedError as error:
        say(f"error: {error}")
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


def _exec(options: argparse.Namespace) -> int:
    command = options.words[1:] if options.words[:1] == ["--"] else options.words
    if not command:
        raise EmbeddedError("Say which command to run, after `--`.")
    if options.join and external.wanted():
        return execute(command, {})
    if options.join and (shared := services.joined(options.var)):
        return execute(command, shared.full_environment())
    with services.running(options.var, fresh=options.fresh) as own:
        return execute(command, own.full_environment())


def _exit_on_signal(signum: int, frame: FrameType | None) -> NoReturn:
    sys.exit(128 + signum)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m gedaechtnis.embedded", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)

    run = commands.add_parser("run", help="services, web, worker and beat, until Ctrl-C")
    run.add_argument("--port", type=int, help="port of the pages (default: the first free one from 8000 on)")

    serve = commands.add_parser("serve", help="production: web, worker and beat on external services")
    serve.add_argument("--host", default="127.0.0.1")
    serve.add_argument("--port", type=int, default=8000)
    serve.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="web processes (default: one a core)")
    serve.add_argument("--trusted-proxies", default="127.0.0.1", help="addresses whose forwarded headers count")

    backup = commands.add_parser("backup", help="a dump of everything, checked for being whole")
    backup.add_argument("--to", type=Path, metavar="DIR", help="where it is kept (default: VAR/backups)")

    restore = commands.add_parser("restore", help="a dump into an empty database")
    restore.add_argument("file", type=Path, metavar="FILE")

    execute_parser = commands.add_parser("exec", help="run one command with the services around it")
    group = execute_parser.add_mutually_exclusive_group()
    group.add_argument("--fresh", action="store_true", help="empty database and Valkey first; fast, not durable")
    group.add_argument("--join", action="store_true", help="use services of one's own, or those that already run there")

    for subparser in (run, serve, backup, restore, execute_parser):
        subparser.add_argument("--var", type=Path, default=_DEFAULT_VAR, help="directory of all data")
    execute_parser.add_argument("words", nargs=argparse.REMAINDER, metavar="-- COMMAND …")
    return parser


if __name__ == "__main__":
    sys.exit(main())
