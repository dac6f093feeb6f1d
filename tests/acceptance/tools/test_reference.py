"""The reference of the tools is what the tools say of themselves. `WRITE_GOLDEN=1` writes it anew."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.utils import translation

from gedaechtnis.tools import registry
from gedaechtnis.tools.registry import Tool

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "tools.md"
_BEGIN = "<!-- what follows is checked against the tools by tests/acceptance/tools/test_reference.py -->\n"


def test_the_reference_says_what_the_tools_say() -> None:
    with translation.override("en"):
        told = "\n".join(line for tool in registry.TOOLS.values() for line in _section(tool))
    text = PAGE.read_text(encoding="utf-8")
    intro, _mark, _rest = text.partition(_BEGIN)
    if os.environ.get("WRITE_GOLDEN"):
        PAGE.write_text(f"{intro}{_BEGIN}\n{told}", encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == f"{intro}{_BEGIN}\n{told}"


@pytest.mark.parametrize("language", ["de", "en"])
@pytest.mark.parametrize("tool", registry.TOOLS.values(), ids=lambda tool: tool.name)
def test_a_tool_describes_itself_and_every_argument(tool: Tool, language: str) -> None:
    with translation.override(language):
        described = tool.input_schema()
        assert translation.gettext(tool.description).endswith((".", "?"))
    assert described["type"] == tool.output_schema()["type"] == "object"
    for name, argument in described["properties"].items():
        told = argument.get("description") or next((o.get("description") for o in argument.get("anyOf", [])), None)
        assert told, f"{tool.name}: {name} is not described"


def _section(tool: Tool) -> Iterator[str]:
    writes = "keeps for oneself" if tool.is_private else "proposes"
    kind = "reads" if tool.is_reading else writes + (", may end facts" if tool.is_destructive else "")
    schema = tool.input_schema()
    yield f"## `{tool.name}`\n"
    yield f"*{translation.gettext(tool.title)}* ({kind}). {translation.gettext(tool.description)}\n"
    yield "| argument | takes | meaning |\n|---|---|---|"
    for name, argument in schema["properties"].items():
        needed = "" if name in schema.get("required", ()) else _default(argument)
        yield f"| `{name}` | {_takes(argument)}{needed} | {_meaning(argument)} |"
    yield ""


def _options(argument: dict[str, Any]) -> list[dict[str, Any]]:
    return [option for option in argument.get("anyOf", [argument]) if option.get("type") != "null"]


def _takes(argument: dict[str, Any]) -> str:
    told = []
    for option in _options(argument):
        if "enum" in option:
            told.append(" \\| ".join(f"`{value}`" for value in option["enum"]))
            continue
        low, high = option.get("minimum"), option.get("maximum")
        bounds = f" {low}–{high}" if low is not None else ""
        longest = f" ≤ {option['maxLength']}" if "maxLength" in option else ""
        told.append(f"{option['type']}{bounds}{longest}")
    return " or ".join(told)


def _default(argument: dict[str, Any]) -> str:
    return f", `{argument['default']}`" if argument.get("default") is not None else ", optional"


def _meaning(argument: dict[str, Any]) -> str:
    found = [argument, *_options(argument)]
    return next(str(part["description"]) for part in found if part.get("description"))
