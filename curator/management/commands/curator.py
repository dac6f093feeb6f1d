from __future__ import annotations

import json
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from curator.extractors.builtin import BuiltinExtractor
from curator.preview import preview_line
from curator.vocabulary import snapshot
from gedaechtnis.common.problems import Problem


class Command(BaseCommand):
    help = "`curator preview` reads windows as JSON Lines and writes what would be learned; stores nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        preview = actions.add_parser("preview", help="JSON Lines from standard input to standard output.")
        preview.add_argument("--extractor", choices=["builtin"], default="builtin")

    def handle(self, *args: Any, **options: Any) -> None:
        extractor, registry = BuiltinExtractor(), snapshot()
        for number, line in enumerate(sys.stdin, start=1):
            if not line.strip():
                continue
            try:
                answer = preview_line(json.loads(line), extractor, registry)
            except (json.JSONDecodeError, Problem) as error:
                raise CommandError(f"line {number}: {error}") from error
            self.stdout.write(json.dumps(answer, ensure_ascii=False))
