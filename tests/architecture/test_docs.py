"""The documents tell the truth about files, targets, commands, settings and the dependency rule."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FRONT = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")]
DOCUMENTS = [*FRONT, *sorted((ROOT / "docs").rglob("*.md"))]
DECISIONS = sorted((ROOT / "docs" / "adr").glob("*.md"))
PACKAGES = ("gedaechtnis", "curator", "integrations")
SOURCES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
FILE_NAMES = {path.name for folder in (*PACKAGES, "tests", "static") for path in (ROOT / folder).rglob("*.*")} | {
    path.name for path in ROOT.glob("*.*")
}

_FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.M | re.S)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_CODE = re.compile(r"`([^`\n]+)`")
_PATH = re.compile(r"[\w.-]+(?:/[\w.-]+)+/?")
_FILE = re.compile(r"[\w-]+\.(?:py|md|toml|csv|sql|js)")
_COMMAND_PATH = re.compile(r"(?<![\w/.-])(?:gedaechtnis|curator|tests|locale|docs)/[\w./-]*\w")
_ENV = re.compile(r"(?:env\.\w+|environ\.get|environ\.setdefault)\(\s*\"([A-Z_]+)\"|environ\[\"([A-Z_]+)\"\]")
_MADE_AT_RUN_TIME = ("var/", ".venv/", "node_modules/", "postgresql/", "valkey/", "test-results/")
_PROBLEM = re.compile(r"\bProblem\(\s*\"(\w+)\"")
_CODES_OF_OTHER_DOORS = {"invalid_file", "invalid_row", "invalid_limit", "not_owner"}
"""Met by commands and pages only."""
_HANDLED = re.compile(r"\bwork\.handler\((\w+)\)")
_CONSTANT = re.compile(r"^(\w+) = \"(\w+)\"$", re.M)
_FOLDER_OF_A_VENDOR = {"client.py", "adapter.py"}
"""Said of `integrations/`, which is empty: the shape is decided, the files are not there."""

EACH_DOCUMENT = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _prose(path: Path) -> str:
    return _FENCE.sub("", _text(path))


def _commands(path: Path) -> str:
    return "\n".join(body for language, body in _FENCE.findall(_text(path)) if language == "sh")


def _anchors(path: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", _prose(path), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@EACH_DOCUMENT
def test_every_link_leads_somewhere(document: Path) -> None:
    for link in _LINK.findall(_prose(document)):
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = (document.parent / name).resolve() if name else document
        assert target.exists(), f"{link} leads nowhere"
        assert not anchor or anchor in _anchors(target), f"{link}: no such heading"


def _is_of_the_project(path: str) -> bool:
    """Whether a word with a slash means a file or folder here: others are media types, zones, what a run makes."""
    if path.startswith(_MADE_AT_RUN_TIME):
        return False
    return path.endswith("/") or _FILE.search(path) is not None or (ROOT / path.split("/")[0]).is_dir()


@EACH_DOCUMENT
def test_every_file_named_exists(document: Path) -> None:
    for code in _CODE.findall(_prose(document)):
        if _FILE.fullmatch(code):
            assert code in FILE_NAMES | _FOLDER_OF_A_VENDOR, f"there is no file {code}"
        elif _PATH.fullmatch(code) and _is_of_the_project(code):
            assert any((base / code).exists() for base in (ROOT, ROOT / "gedaechtnis")), f"there is no {code}"
    for path in _COMMAND_PATH.findall(_commands(document)):
        assert (ROOT / path).exists(), f"a command names {path}, which is not there"


def _targets() -> set[str]:
    return set(re.findall(r"^([a-z0-9-]+):.*## ", _text(ROOT / "Makefile"), re.M))


@EACH_DOCUMENT
def test_every_make_target_named_exists(document: Path) -> None:
    words = "\n".join(_CODE.findall(_prose(document))) + "\n" + _commands(document)
    named = set(re.findall(r"^(?:\w+=\S+ )*make ([a-z0-9-]+)", words, re.M))
    assert named <= _targets()


def test_the_readme_lists_every_make_target() -> None:
    listed = set(re.findall(r"^\| `make ([a-z0-9-]+)` \|", _text(ROOT / "README.md"), re.M))
    assert listed == _targets() - {"help"}


def test_every_environment_variable_read_is_described() -> None:
    described = set(_CODE.findall(_text(ROOT / "docs" / "reference" / "configuration.md")))
    read = {name for path in SOURCES for pair in _ENV.findall(_text(path)) for name in pair if name}
    assert read <= described
    named = {name for path in DOCUMENTS for name in re.findall(r"`(GEDAECHTNIS_[A-Z_]+)", _text(path))}
    assert named <= read


def test_every_management_command_is_described() -> None:
    described = _text(ROOT / "docs" / "reference" / "cli.md")
    commands = {path.stem for path in SOURCES if path.parent.name == "commands" and path.stem != "__init__"}
    assert {name for name in commands if f"`{name}" not in described} == set()


def test_the_readme_names_every_management_command_of_the_project() -> None:
    table = _text(ROOT / "README.md")
    commands = {path.stem for path in SOURCES if path.parent.name == "commands" and path.stem != "__init__"}
    assert {name for name in commands if f"| `{name}" not in table} == set()


def test_every_code_a_program_may_meet_is_listed() -> None:
    described = set(_CODE.findall(_text(ROOT / "docs" / "reference" / "api.md")))
    rooms = [ROOT / "gedaechtnis" / room for room in ("api", "chat", "common", "memory", "registry", "tools")]
    raised = {code for room in rooms for path in room.rglob("*.py") for code in _PROBLEM.findall(_text(path))}
    assert len(raised) > 60
    assert raised - _CODES_OF_OTHER_DOORS - described == set()


def test_every_kind_of_work_is_described() -> None:
    described = _text(ROOT / "ARCHITECTURE.md")
    handled = {name for path in SOURCES for name in _HANDLED.findall(_text(path))}
    kinds = {kind for path in SOURCES for name, kind in _CONSTANT.findall(_text(path)) if name in handled}
    assert len(kinds) >= len(handled) > 5
    assert {kind for kind in kinds if f"`{kind}`" not in described} == set()


def test_the_architecture_shows_the_dependency_rule_that_is_checked() -> None:
    settings = tomllib.loads(_text(ROOT / "pyproject.toml"))
    (checked,) = [
        contract["layers"]
        for contract in settings["tool"]["importlinter"]["contracts"]
        if contract["type"] == "layers" and "containers" not in contract
    ]
    (shown,) = [body for language, body in _FENCE.findall(_text(ROOT / "ARCHITECTURE.md")) if language == "layers"]
    assert shown.split("\n")[:-1] == checked


def test_the_architecture_names_every_room() -> None:
    table = _text(ROOT / "ARCHITECTURE.md")
    rooms = {path.parent.relative_to(ROOT) for path in SOURCES if path.name == "__init__.py"}
    top = {room for room in rooms if len(room.parts) == (2 if room.parts[0] == "gedaechtnis" else 1)}
    assert {str(room) for room in top - {Path("gedaechtnis")} if f"| `{room}/` |" not in table} == set()


@pytest.mark.parametrize("decision", DECISIONS, ids=lambda path: path.stem)
def test_a_decision_is_short_and_says_first_what_we_will_do(decision: Path) -> None:
    title, _, status, _, first = _text(decision).split("\n")[:5]
    assert title.startswith(f"# {decision.name[:4]} · ")
    assert re.fullmatch(r"(Accepted|Replaced by \[\d{4}\]\(\S+\)), \d{4}-\d{2}-\d{2}", status)
    assert first.startswith("We will ")
    assert len(_text(decision).split()) <= 400


def test_decisions_are_numbered_without_gaps() -> None:
    assert [int(path.name[:4]) for path in DECISIONS] == list(range(1, len(DECISIONS) + 1))
