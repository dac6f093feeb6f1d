"""The traps of row-level security on this stack.

Each is sprung first, by going around the door, and then shown not to catch what goes through it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
from asgiref.sync import sync_to_async
from django.conf import settings
from django.core.exceptions import SynchronousOnlyOperation
from django.db import DatabaseError, connection, connections, transaction
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.template import engines
from django.template.response import SimpleTemplateResponse
from django.test import Client, RequestFactory, override_settings
from django.urls import NoReverseMatch, get_resolver, path, reverse
from django.utils.module_loading import import_string
from ninja import NinjaAPI
from ninja.errors import HttpError

from gedaechtnis.common.ids import uuid7
from gedaechtnis.common.problems import Problem
from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal, person
from gedaechtnis.memory import ports
from gedaechtnis.memory.schemas import AssertFact, MemoryMutationProposal, UpsertEntity
from gedaechtnis.memory.services.commit import commit_proposal
from gedaechtnis.scoping import checks, work
from gedaechtnis.scoping.context import current_scope, scope
from gedaechtnis.scoping.models import ScopedModel
from gedaechtnis.scoping.tables import scoped_models
from gedaechtnis.world.models import Entity, EntityAlias, Fact, Suppression, WorldEvent
from tests.conftest import text_of
from tests.rows import columns, insert, insert_everywhere

Admin = psycopg.Connection[Any]
ROOT = Path(__file__).parents[2]
SOURCES = [path for package in ("gedaechtnis", "curator", "integrations") for path in (ROOT / package).rglob("*.py")]


def remember(principal: Principal, name: str = "Luna") -> UUID:
    """A pet and one fact about it; the id of the pet."""
    hint = f"pet:{name.lower()}"
    operations = [
        UpsertEntity(id_hint=hint, kind="pet", canonical_name=name),
        AssertFact(subject_ref=hint, predicate="species", object_value="Katze"),
    ]
    result = commit_proposal(principal=principal, proposal=MemoryMutationProposal(operations=operations))
    id = result.results[0].entity_id
    assert id is not None
    return id


def cats() -> int:
    """How many cats the connection sees at the moment."""
    return Fact.objects.filter(predicate="species").count()


def note(principal: Principal) -> None:
    """Write something within an open door."""
    with scope(principal, write=principal.default_scope):
        Suppression.objects.create(scope_ref=principal.default_scope, key=uuid7(), recorded_at="2026-01-01T00:00Z")


def stored(admin: Admin, table: str = "suppressions") -> int:
    row = admin.execute(f'SELECT count(*) FROM "{table}"').fetchone()
    assert row is not None
    return int(row[0])


def setting(name: str) -> str | None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting(%s, true)", [f"gedaechtnis.{name}"])
        value: str | None = cursor.fetchone()[0]
        return value


# What is read after the door has closed


def test_what_is_rendered_later_reads_nothing(as_anna: Principal) -> None:
    remember(as_anna)
    template = engines["django"].from_string("{% for fact in facts %}{{ fact }}{% endfor %}")
    with scope(as_anna):
        lazy = SimpleTemplateResponse(template, {"facts": Fact.objects.all()})
        streamed = StreamingHttpResponse(str(fact) for fact in Fact.objects.all().iterator())
        at_once = template.render({"facts": Fact.objects.all()})
    assert "Luna" in at_once
    assert lazy.render().content == b""
    assert streamed.getvalue() == b""


def test_no_page_is_rendered_or_streamed_after_its_view(as_anna: Principal, anna: User, page_for: Any) -> None:
    luna = remember(as_anna)
    client: Client = page_for(anna)
    names = {name for name in get_resolver().reverse_dict if isinstance(name, str)} - {"login", "logout"}
    addresses = [reverse("entity", args=[str(luna)])]
    for name in sorted(names):
        try:
            addresses.append(reverse(name))
        except NoReverseMatch:
            continue
    assert len(addresses) > 5
    for address in addresses:
        response = client.get(address)
        if address == reverse("data-download"):
            # Read to its end within the door, and only sent in pieces.
            assert "Luna" in text_of(response)
            continue
        assert not response.streaming, address
        assert not isinstance(response, SimpleTemplateResponse), f"{address} is rendered after its view"


# Requests that end badly

_asking: dict[str, Principal] = {}
_failing = NinjaAPI(urls_namespace="traps")


def _writes_and_raises(request: HttpRequest) -> HttpResponse:
    assert not connection.in_atomic_block, "a middleware opened a transaction around the view"
    with scope(_asking["as"]):
        note(_asking["as"])
        raise ZeroDivisionError


@_failing.get("/inside")
def _error_inside_the_door(request: HttpRequest) -> None:
    with scope(_asking["as"]):
        note(_asking["as"])
        raise HttpError(400, "no")


@_failing.get("/problem")
def _problem_inside_the_door(request: HttpRequest) -> None:
    with scope(_asking["as"]):
        note(_asking["as"])
        raise Problem("no", "no", 409)


@_failing.get("/after")
def _error_after_the_door(request: HttpRequest) -> None:
    note(_asking["as"])
    raise HttpError(400, "no")


@_failing.exception_handler(Problem)
def _as_response(request: HttpRequest, problem: Any) -> HttpResponse:
    return HttpResponse(status=problem.status)


def handler500(request: HttpRequest) -> HttpResponse:
    return HttpResponse(status=500)


urlpatterns = [path("page", _writes_and_raises), path("api/", _failing.urls)]


@pytest.fixture
def failing(as_anna: Principal) -> Iterator[Client]:
    _asking["as"] = as_anna
    with override_settings(ROOT_URLCONF=__name__):
        yield Client(raise_request_exception=False)


def test_a_view_that_raises_leaves_nothing_behind(failing: Client, admin_connection: Admin) -> None:
    assert failing.get("/page").status_code == 500
    assert stored(admin_connection) == 0


def test_no_transaction_spans_a_request(as_anna: Principal, admin_connection: Admin) -> None:
    """One around the view's error page would commit what the view wrote before it failed."""

    def error_page(request: HttpRequest) -> HttpResponse:
        try:
            note(as_anna)
            raise ZeroDivisionError
        except ZeroDivisionError:
            return HttpResponse(status=500)

    with transaction.atomic():
        error_page(RequestFactory().get("/"))
    assert stored(admin_connection) == 1, "sprung"
    assert not settings.DATABASES["default"].get("ATOMIC_REQUESTS", False)
    for name in settings.MIDDLEWARE:
        module = import_string(name).__module__
        if module.startswith(("gedaechtnis", "curator")):
            source = (ROOT / (module.replace(".", "/") + ".py")).read_text(encoding="utf-8")
            assert "atomic" not in source, f"{name} opens a transaction"


@pytest.mark.parametrize(("address", "status"), [("inside", 400), ("problem", 409)])
def test_an_error_answer_takes_back_what_its_door_wrote(
    failing: Client, admin_connection: Admin, address: str, status: int
) -> None:
    assert failing.get("/api/after").status_code == 400
    assert stored(admin_connection) == 1, "sprung: an error answer does not undo what was committed before it"
    assert failing.get(f"/api/{address}").status_code == status
    assert stored(admin_connection) == 1


# Settings that outlive what they were made for


@contextmanager
def pool_of_one(**options: Any) -> Iterator[None]:
    """One connection for all, so that each finds what the one before left behind."""
    ours = settings.DATABASES["default"]["OPTIONS"]
    kept = ours["pool"]
    connections.close_all()
    connection.close_pool()  # type: ignore[attr-defined]
    ours["pool"] = kept | {"max_size": 1, "timeout": 20} | options
    try:
        yield
    finally:
        connections.close_all()
        connection.close_pool()  # type: ignore[attr-defined]
        ours["pool"] = kept


@pytest.fixture
def pooled() -> Iterator[None]:
    with pool_of_one():
        yield


def set_for_the_session(principal: Principal) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SET gedaechtnis.read_scopes = '{principal.default_scope}'")
        cursor.execute("SET gedaechtnis.clearance = 3")


def backend() -> int:
    """The server's process behind the connection."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def test_a_setting_of_the_session_leaks_through_a_pool_that_forgets_nothing(as_anna: Principal) -> None:
    remember(as_anna)
    with pool_of_one(reset=None):
        set_for_the_session(as_anna)
        connection.close()
        assert cats() == 1, "sprung: the next one to use the connection reads what is Anna's"


@pytest.mark.usefixtures("pooled")
def test_nothing_leaks_through_our_pool_neither_from_the_door_nor_from_the_session(as_anna: Principal) -> None:
    remember(as_anna)
    with scope(as_anna, write=as_anna.default_scope):
        assert cats() == 1
    connection.close()
    used = backend()
    assert [setting(name) for name in ("read_scopes", "write_scope", "current_org", "clearance")] == [""] * 4
    set_for_the_session(as_anna)
    assert cats() == 1
    connection.close()
    assert cats() == 0
    assert backend() == used, "the test must ask on the connection that knew more"


@pytest.mark.usefixtures("pooled")
def test_a_connection_that_comes_back_in_the_middle_of_a_transaction_forgets_too(as_anna: Principal) -> None:
    remember(as_anna)
    used = backend()
    connection.set_autocommit(False)
    set_for_the_session(as_anna)
    with connection.cursor() as cursor, pytest.raises(DatabaseError):
        cursor.execute("SELECT 1/0")
    connection.close()
    assert cats() == 0
    assert backend() == used
    with connection.cursor() as cursor:
        cursor.execute("SHOW TimeZone")
        assert cursor.fetchone()[0] == "UTC", "what Django set stays"


@pytest.mark.usefixtures("pooled")
def test_a_connection_that_the_server_ended_is_replaced_before_anyone_meets_it(
    as_anna: Principal, admin_connection: Admin
) -> None:
    remember(as_anna)
    used = backend()
    connection.close()
    admin_connection.execute("SELECT pg_terminate_backend(%s, 5000)", [used])
    with scope(as_anna):
        assert cats() == 1
    assert backend() != used


@pytest.mark.usefixtures("pooled")
def test_case_c63_one_connection_for_all_answers_each_with_their_own(
    anna: User, clara: User, client_for: Callable[..., Any]
) -> None:
    clients = {"Luna": client_for(anna), "Rex": client_for(clara)}
    for name, user in (("Luna", anna), ("Rex", clara)):
        remember(person(user), name)
    connection.close()

    def ask(number: int) -> bool:
        own, other = ("Luna", "Rex") if number % 2 else ("Rex", "Luna")
        try:
            text = clients[own].get("/api/world/entities").content.decode()
        finally:
            connections.close_all()
        return own in text and other not in text

    with ThreadPoolExecutor(max_workers=4) as threads:
        assert all(threads.map(ask, range(200)))


def test_case_c63_work_without_a_scope_sees_nothing_whatever_ran_before(
    as_anna: Principal, as_clara: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(as_anna)
    remember(as_clara)
    while work.run_due():
        pass
    seen: list[tuple[str, int]] = []

    def scoped(item: work.WorkItem) -> None:
        with scope(item.system()):
            seen.append(("scoped", cats()))

    def raising(item: work.WorkItem) -> None:
        with scope(item.system()):
            raise ZeroDivisionError

    def forgetful(item: work.WorkItem) -> None:
        seen.append(("forgetful", cats()))

    monkeypatch.setattr(work, "_handlers", {"scoped": scoped, "raising": raising, "forgetful": forgetful})
    for kind, owner in [("scoped", as_anna), ("forgetful", as_anna), ("raising", as_clara), ("forgetful", as_clara)]:
        work.enqueue(kind=kind, scope_ref=owner.default_scope, dedupe_key=kind)
        item = work.claim()[0]
        work.run(item)
    assert seen == [("scoped", 1), ("forgetful", 0), ("forgetful", 0)]


def test_case_c63_an_unset_setting_reads_empty_after_first_use_and_still_admits_nothing(as_anna: Principal) -> None:
    remember(as_anna)
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]
    assert setting("read_scopes") is None
    with scope(as_anna):
        assert cats() == 1
    assert setting("read_scopes") == ""
    assert setting("clearance") == ""
    for model in scoped_models():
        assert not model._default_manager.exists()


def test_releasing_a_savepoint_keeps_the_inner_setting_and_the_door_puts_it_back(
    as_anna: Principal, as_clara: Principal
) -> None:
    with transaction.atomic():
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT set_config('gedaechtnis.write_scope', 'inner', true)")
        assert setting("write_scope") == "inner", "sprung"
    with scope(as_anna, write=as_anna.default_scope):
        with scope(as_clara):
            assert setting("write_scope") == ""
        assert setting("write_scope") == as_anna.default_scope


def test_settings_are_made_for_a_transaction_only() -> None:
    session_wide = re.compile(
        r"""["']\s*SET\s+(?:SESSION\s+)?["']?gedaechtnis\.|set_config\([^)]*false""", re.IGNORECASE
    )
    assert [str(path) for path in SOURCES if session_wide.search(path.read_text(encoding="utf-8"))] == []


# Tests that would hide a missing scope


def test_no_test_of_ours_wraps_the_database_in_a_transaction() -> None:
    wrapping = re.compile(
        r"\b(?:TestCase|TransactionTestCase|SimpleTestCase)\b|\bdjango_db\b|\b(?:transactional_)?db\s*[:,)]"
    )
    own = Path(__file__)
    users = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "tests").rglob("*.py")
        if path != own and wrapping.search(path.read_text(encoding="utf-8"))
    ]
    assert users == []


def test_the_application_cannot_empty_tables(as_anna: Principal) -> None:
    for model in scoped_models():
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f'TRUNCATE "{model._meta.db_table}"')


# What the database checks without asking the policies


def test_equal_rows_of_two_scopes_do_not_meet(anna: User, clara: User, admin_connection: Admin) -> None:
    """Every unique and exclusion key holds the scope: else the error would tell of the foreign row."""
    for user in (anna, clara):
        insert_everywhere(admin_connection, person(user).default_scope)


def test_a_reference_to_a_foreign_entity_fails_like_one_to_a_missing_entity(
    anna: User, clara: User, as_anna: Principal, admin_connection: Admin
) -> None:
    ids = insert_everywhere(admin_connection, person(clara).default_scope)
    luna, missing = remember(as_anna), UUID("019ff000-0000-7000-8000-000000000001")

    def refusal(model: type[ScopedModel], column: str, target: UUID) -> str:
        values = {**columns(model, person(clara).default_scope, ids), "id": uuid7(), column: target}
        if "origin_fact_id" in values:
            values["origin_fact_id"] = values["id"]
        names, marks = ", ".join(f'"{name}"' for name in values), ", ".join(["%s"] * len(values))
        clara_writes = scope(person(clara), write=person(clara).default_scope)
        with pytest.raises(DatabaseError) as refused, clara_writes, connection.cursor() as cursor:
            cursor.execute(f'INSERT INTO "{model._meta.db_table}" ({names}) VALUES ({marks})', list(values.values()))
        return str(refused.value).replace(str(target), "…")

    cases: list[tuple[type[ScopedModel], str]] = [
        (Fact, "subject_id"),
        (Fact, "applies_to_id"),
        (EntityAlias, "entity_id"),
    ]
    for model, column in cases:
        assert refusal(model, column, luna) == refusal(model, column, missing)


def test_no_deletion_reaches_rows_that_nobody_named(admin_connection: Admin) -> None:
    cascading = admin_connection.execute(
        "SELECT conname FROM pg_constraint WHERE contype = 'f' AND confdeltype NOT IN ('a', 'r') "
        "AND conrelid::regclass::text = ANY (%s)",
        [[model._meta.db_table for model in scoped_models()]],
    ).fetchall()
    assert cascading == []


def test_a_partition_does_not_inherit_the_policies_of_its_table(
    as_anna: Principal, as_clara: Principal, admin_connection: Admin
) -> None:
    admin_connection.execute(
        "CREATE TABLE world_events_peek PARTITION OF world_events "
        "FOR VALUES FROM (world_uuid7_floor('2099-01-01')) TO (world_uuid7_floor('2099-02-01'))"
    )
    try:
        values = columns(WorldEvent, as_anna.default_scope, insert_everywhere(admin_connection, as_anna.default_scope))
        insert(admin_connection, WorldEvent, {**values, "id": UUID("03b41d2b-b400-7000-8000-000000000001")})
        assert stored(admin_connection, "world_events_peek") == 1
        assert any("world_events_peek" in problem for problem in checks.problems())
        admin_connection.execute("GRANT SELECT ON world_events_peek TO gedaechtnis_app")
        with scope(as_clara), connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM world_events_peek")
            assert cursor.fetchone() == (1,), "sprung"
            assert not WorldEvent.objects.filter(scope_ref=as_anna.default_scope).exists()
    finally:
        admin_connection.execute("DROP TABLE world_events_peek")


def test_case_c61_a_view_shows_foreign_rows_unless_it_asks_as_its_reader(
    as_anna: Principal, as_clara: Principal, admin_connection: Admin
) -> None:
    remember(as_anna)
    seen: dict[str, int] = {}
    try:
        for name, options in [("peek_owner", ""), ("peek_invoker", "WITH (security_invoker = true)")]:
            admin_connection.execute(f"CREATE VIEW {name} {options} AS SELECT * FROM facts")
            admin_connection.execute(f"GRANT SELECT ON {name} TO gedaechtnis_app")
            with scope(as_clara), connection.cursor() as cursor:
                cursor.execute(f"SELECT count(*) FROM {name} WHERE predicate = 'species'")
                seen[name] = cursor.fetchone()[0]
    finally:
        admin_connection.execute("DROP VIEW IF EXISTS peek_owner; DROP VIEW IF EXISTS peek_invoker")
    assert seen == {"peek_owner": 1, "peek_invoker": 0}


def test_case_c61_the_application_is_bound_by_the_policies(as_anna: Principal, as_clara: Principal) -> None:
    remember(as_anna)
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user")
        assert cursor.fetchone() == (False, False)
        cursor.execute("SELECT count(*) FROM pg_class WHERE relkind IN ('r', 'p') AND pg_has_role(relowner, 'MEMBER')")
        assert cursor.fetchone() == (0,)
    for model in scoped_models():
        assert not model._default_manager.exists()
        with scope(as_clara):
            assert not model._default_manager.exclude(scope_ref=as_clara.default_scope).exists()


def test_a_data_migration_of_the_owner_changes_nothing_in_silence(as_anna: Principal, admin_connection: Admin) -> None:
    remember(as_anna)
    with connections["owner"].cursor() as cursor:
        cursor.execute("UPDATE entities SET pinned = true")
        assert cursor.rowcount == 0, "FORCE binds the owner too"
    assert stored(admin_connection, "entities") > 0


def test_no_migration_changes_rows_of_scoped_tables() -> None:
    tables = "|".join(model._meta.db_table for model in scoped_models())
    body_of_a_function = re.compile(r"\bAS \$\$.*?\$\$", re.S)  # runs later, as its definer
    changing = re.compile(rf"RunPython|\b(?:UPDATE|DELETE FROM|INSERT INTO)\s+(?:{tables})\b")
    files = [*ROOT.glob("*/**/migrations/0*.py"), *ROOT.glob("gedaechtnis/*/sql/*.up.sql")]
    own = [path for path in files if not {".venv", "node_modules"} & set(path.parts)]
    assert len(own) > 8
    texts = {str(path): body_of_a_function.sub("", path.read_text(encoding="utf-8")) for path in own}
    assert [path for path, text in texts.items() if changing.search(text)] == []


# What happens after commit, or on another thread


def test_callbacks_after_commit_have_no_scope_and_carry_ids_only(
    as_anna: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[object, int]] = []
    frames: list[dict[str, Any]] = []
    monkeypatch.setattr(ports, "publish", lambda _scope_ref, payload: frames.append(payload))
    with scope(as_anna, write=as_anna.default_scope):
        remember(as_anna)
        transaction.on_commit(lambda: seen.append((current_scope(), Entity.objects.count())))
        assert frames == []
    assert seen == [(None, 0)]
    assert frames
    for frame in frames:
        assert set(frame) == {"type", "ids"}
        assert [str(UUID(id)) for id in frame["ids"]] == frame["ids"]


def test_the_door_does_not_open_in_a_coroutine_and_a_unit_in_one_thread_keeps_its_own(
    as_anna: Principal, as_clara: Principal
) -> None:
    remember(as_anna)

    def read(principal: Principal) -> int:
        try:
            with scope(principal):
                return cats()
        finally:
            connections.close_all()

    async def half() -> None:
        with scope(as_anna):
            pass

    async def whole() -> list[int]:
        unit = sync_to_async(read, thread_sensitive=False)
        counts = await asyncio.gather(*(unit(who) for who in (as_anna, as_clara) * 10))
        assert current_scope() is None
        return counts

    with pytest.raises(SynchronousOnlyOperation):
        asyncio.run(half())
    assert asyncio.run(whole()) == [1, 0] * 10
