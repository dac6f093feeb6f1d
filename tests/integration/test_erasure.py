"""Leaving for good: what goes, what stays byte for byte, and who finds a closed group."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest
from allauth.socialaccount.models import SocialAccount
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db import DatabaseError, connection, connections, transaction
from django.test import Client

from gedaechtnis.common import clock
from gedaechtnis.common.problems import NotFound, Problem
from gedaechtnis.identity import access, accounts, closed_groups, groups, orgs
from gedaechtnis.identity.models import AuditEntry, Group, GroupMembership, Org, OrgMembership, Token, User
from gedaechtnis.identity.principals import Principal, person, system, user_scope
from gedaechtnis.memory.selectors.recall import search
from gedaechtnis.memory.selectors.recall.hits import SearchQuery
from gedaechtnis.memory.services import erasure, facts
from gedaechtnis.scoping import work
from gedaechtnis.scoping.context import scope
from gedaechtnis.scoping.models import ScopeClock, Work
from gedaechtnis.scoping.tables import scoped_models
from tests.conftest import make_user
from tests.rows import insert_everywhere

Admin = psycopg.Connection[Any]
Role = GroupMembership.Role
TABLES = [model._meta.db_table for model in scoped_models()]
CLOSED = datetime(2026, 11, 1, 9, tzinfo=UTC)


@pytest.fixture
def family(anna: User, ben: User) -> Group:
    """Anna's group; Ben edits."""
    made = groups.create_group(user=anna, name="Familie")
    groups.add_member(user=anna, group_id=made.pk, username="ben")
    return made


def rows_of(admin: Admin, scope_ref: str) -> dict[str, list[Any]]:
    """Every row of a scope as the database writes it, by table."""
    return {
        table: admin.execute(
            f'SELECT t::text FROM "{table}" t WHERE scope_ref = %s ORDER BY id', [scope_ref]
        ).fetchall()
        for table in TABLES
    }


def count_of(admin: Admin, scope_ref: str) -> int:
    return sum(len(rows) for rows in rows_of(admin, scope_ref).values())


def state_of(scope_ref: str) -> str:
    return ScopeClock.objects.get(pk=scope_ref).state


def code_of(act: Callable[[], object]) -> str:
    with pytest.raises(Problem) as refused:
        act()
    return refused.value.code


def erase_in_database(scope_ref: str | None) -> Any:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT scoping_erase(%s)", [scope_ref])
        return cursor.fetchone()[0]


# ── What goes, and what stays ────────────────────────────────────────────────


def test_erasing_one_scope_leaves_every_other_byte_equal(
    anna: User, ben: User, clara: User, family: Group, admin_connection: Admin
) -> None:
    gone = user_scope(ben.sub)
    others = [user_scope(anna.sub), user_scope(clara.sub), f"group:{family.pk}", "global"]
    for ref in (gone, *others):
        insert_everywhere(admin_connection, ref) if not ref.startswith("user:") else _fill(admin_connection, ref)
        work.enqueue(kind="curate", scope_ref=ref, dedupe_key="x")
    before = {ref: rows_of(admin_connection, ref) for ref in others}
    assert all(rows for rows in rows_of(admin_connection, gone).values())
    erasure.delete_user(user=ben)
    assert {ref: rows_of(admin_connection, ref) for ref in others} == before
    assert count_of(admin_connection, gone) == 0
    assert sorted(Work.objects.filter(kind="curate").values_list("scope_ref", flat=True)) == sorted(others)
    assert not Work.objects.filter(scope_ref=gone).exists()
    assert state_of(gone) == "erased"


def _fill(admin: Admin, scope_ref: str) -> None:
    """A row in each table of somebody who already is an entity of their own memory."""
    admin.execute("DELETE FROM entities WHERE scope_ref = %s", [scope_ref])
    insert_everywhere(admin, scope_ref)


@pytest.mark.parametrize("ref", ["user", "group", "org", "global", "nonsense", None])
def test_the_database_erases_nothing_that_is_in_use(
    anna: User, family: Group, admin_connection: Admin, ref: str | None
) -> None:
    org = Org.objects.create(name="Verein")
    refs = {"user": user_scope(anna.sub), "group": f"group:{family.pk}", "org": f"org:{org.pk}"}
    target = refs.get(ref or "", ref)
    with pytest.raises(DatabaseError):
        erase_in_database(target)
    assert count_of(admin_connection, user_scope(anna.sub)) > 0


def test_an_erased_scope_is_never_written_again(anna: User, family: Group) -> None:
    shared = f"group:{family.pk}"
    before = person(anna)  # as a request knows it that began earlier
    groups.close_group(user=anna, group_id=family.pk)
    for principal in (before, system(shared, "test")):
        assert code_of(lambda principal=principal: scope(principal, write=shared).__enter__()) == "scope_denied"  # type: ignore[misc]
    erasure.erase_group(user=anna, group_id=family.pk)
    assert state_of(shared) == "erased"
    assert code_of(lambda: scope(before, write=shared).__enter__()) == "scope_denied"
    assert erase_in_database(shared) is None


def _erase_while_writing(early: Principal, scope_ref: str, erase: Callable[[], None]) -> None:
    writing, erased = threading.Event(), threading.Event()

    def write() -> None:
        try:
            with scope(early, write=scope_ref):
                writing.set()
                assert not erased.wait(0.5)
                facts.introduce(principal=early, kind="topic", name="spät", scope_ref=scope_ref)
        finally:
            connections.close_all()

    writer = threading.Thread(target=write)
    writer.start()
    assert writing.wait(5)
    erase()
    erased.set()
    writer.join()


def test_erasing_waits_for_who_is_writing(anna: User, ben: User, admin_connection: Admin) -> None:
    """A message that is being stored while its person is deleted goes too."""
    own = user_scope(ben.sub)
    _erase_while_writing(person(ben), own, lambda: erasure.delete_user(user=ben))
    assert count_of(admin_connection, own) == 0


def test_erasing_waits_for_who_is_the_first_to_write(anna: User, family: Group, admin_connection: Admin) -> None:
    """A new group has no clock yet; nothing is written there after it was erased all the same."""
    shared = f"group:{family.pk}"

    def erase() -> None:
        groups.close_group(user=anna, group_id=family.pk)
        erasure.erase_group(user=anna, group_id=family.pk)

    _erase_while_writing(person(anna), shared, erase)
    assert (count_of(admin_connection, shared), state_of(shared)) == (0, "erased")


# ── Closed groups ────────────────────────────────────────────────────────────


def test_a_closed_group_is_found_by_its_owners_alone(anna: User, ben: User, clara: User, family: Group) -> None:
    with clock.frozen(CLOSED):
        groups.close_group(user=anna, group_id=family.pk)
    (view,) = closed_groups.list_closed_groups(user=anna)
    assert (view.name, view.closed_at, view.erased_at) == ("Familie", CLOSED, CLOSED + timedelta(days=30))
    for user in (ben, clara):
        assert closed_groups.list_closed_groups(user=user) == ()
        with pytest.raises(NotFound):
            closed_groups.get_closed_group(user=user, group_id=family.pk)
        with pytest.raises(NotFound):
            erasure.erase_group(user=user, group_id=family.pk)


def test_an_open_group_cannot_be_erased(anna: User, family: Group) -> None:
    with pytest.raises(NotFound):
        erasure.erase_group(user=anna, group_id=family.pk)


def test_an_owner_who_left_the_organisation_finds_its_closed_group_no_more(anna: User, family: Group) -> None:
    org = Org.objects.create(name="Verein")
    OrgMembership.objects.create(org=org, user=anna)
    family.org = org
    family.save()
    groups.close_group(user=anna, group_id=family.pk)
    assert closed_groups.list_closed_groups(user=anna)
    OrgMembership.objects.all().delete()
    assert closed_groups.list_closed_groups(user=anna) == ()


def test_a_closed_group_is_erased_after_thirty_days(anna: User, family: Group, admin_connection: Admin) -> None:
    shared = f"group:{family.pk}"
    facts.introduce(principal=person(anna), kind="place", name="Garten", scope_ref=shared)
    kept = rows_of(admin_connection, shared)
    with clock.frozen(CLOSED):
        groups.close_group(user=anna, group_id=family.pk)
    with clock.frozen(CLOSED + timedelta(days=30, seconds=-1)):
        work.run_due()
    assert rows_of(admin_connection, shared) == kept
    with clock.frozen(CLOSED + timedelta(days=30)):
        work.run_due()
    assert count_of(admin_connection, shared) == 0
    assert not Group.objects.exists()
    assert not Work.objects.filter(scope_ref=shared).exists()
    entry = AuditEntry.objects.get(kind="erased")
    total = sum(map(len, kept.values()))
    assert (entry.acted_by, entry.details) == ("system:erasure", {"scope": shared, "rows": str(total)})


def test_a_group_that_was_opened_again_stays(anna: User, family: Group, admin_connection: Admin) -> None:
    shared = f"group:{family.pk}"
    facts.introduce(principal=person(anna), kind="place", name="Garten", scope_ref=shared)
    with clock.frozen(CLOSED):
        groups.close_group(user=anna, group_id=family.pk)
    family.closed_at = None
    family.save()
    with clock.frozen(CLOSED + timedelta(days=31)):
        work.run_due()
    facts.introduce(principal=person(anna), kind="place", name="Keller", scope_ref=shared)
    assert count_of(admin_connection, shared) > 0


def test_what_waited_when_a_group_was_closed_is_done_when_it_is_opened_again(anna: User, family: Group) -> None:
    facts.introduce(principal=person(anna), kind="place", name="Garten", scope_ref=f"group:{family.pk}")
    groups.close_group(user=anna, group_id=family.pk)
    while work.run_due():
        pass
    family.closed_at = None
    family.save()
    while work.run_due():
        pass
    assert search.search(principal=person(anna), query=SearchQuery(text="Garten")).hits


def test_an_owner_erases_at_once(anna: User, family: Group, admin_connection: Admin) -> None:
    shared = f"group:{family.pk}"
    facts.introduce(principal=person(anna), kind="place", name="Garten", scope_ref=shared)
    groups.close_group(user=anna, group_id=family.pk)
    erasure.erase_group(user=anna, group_id=family.pk)
    assert count_of(admin_connection, shared) == 0
    entry = AuditEntry.objects.get(kind="erased")
    assert (entry.acted_by, entry.sub) == (user_scope(anna.sub), anna.sub)
    assert closed_groups.list_closed_groups(user=anna) == ()


def test_whoever_deletes_a_row_of_identity_erases_its_memory(
    anna: User, ben: User, family: Group, admin_connection: Admin
) -> None:
    shared = f"group:{family.pk}"
    facts.introduce(principal=person(anna), kind="place", name="Garten", scope_ref=shared)
    family.delete()
    User.objects.filter(pk=ben.pk).delete()
    assert count_of(admin_connection, shared) == count_of(admin_connection, user_scope(ben.sub)) == 0
    assert count_of(admin_connection, user_scope(anna.sub)) > 0


# ── Deleted people ───────────────────────────────────────────────────────────


def test_a_deleted_person_leaves_no_name_behind(
    anna: User, ben: User, family: Group, admin_connection: Admin, page_for: Callable[[User], Client]
) -> None:
    shared = f"group:{family.pk}"
    User.objects.filter(pk=ben.pk).update(username="benedikta", first_name="Benedikta", last_name="Zwirn")
    ben.refresh_from_db()
    facts.introduce(principal=person(ben), kind="topic", name="Zwirn ist mein Name", scope_ref=user_scope(ben.sub))
    made = facts.introduce(principal=person(ben), kind="place", name="Garten", scope_ref=shared)
    note = facts.add_note(principal=person(ben), entity_id=made.entity_id, text="mit Teich", scope_ref=shared)  # type: ignore[arg-type]
    content_type = ContentType.objects.get_for_model(User)
    LogEntry.objects.create(
        user=anna, content_type=content_type, object_id=str(ben.pk), object_repr="benedikta", action_flag=CHANGE
    )
    accounts_elsewhere = ContentType.objects.get_for_model(SocialAccount)
    LogEntry.objects.create(
        user=anna, content_type=accounts_elsewhere, object_id="7", object_repr="benedikta", action_flag=CHANGE
    )
    erasure.delete_user(user=ben)
    tables = admin_connection.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')"
    ).fetchall()
    found = [
        table
        for (table,) in tables
        if admin_connection.execute(f"""SELECT 1 FROM "{table}" t WHERE t::text ~* 'benedikta|zwirn'""").fetchone()
    ]
    assert found == []
    page = page_for(anna).get(f"/tatsachen/{note.fact_id}/").content.decode()
    assert "mit Teich" in page
    assert "ein früheres Mitglied" in page


def test_nor_in_what_the_admin_did_to_groups_and_organisations(
    anna: User, family: Group, admin_connection: Admin, page_for: Callable[[User], Client]
) -> None:
    """Members are changed in a form of their group, of which the admin keeps what was done."""
    zora = make_user("zora.zwirn")
    org = Org.objects.create(name="Verein")
    boss = User.objects.create(username="chefin", is_staff=True, is_superuser=True)
    for kind, place in (("group", family), ("org", org)):
        form = {"name": place.name, "memberships-TOTAL_FORMS": "1", "memberships-INITIAL_FORMS": "0"}
        row = {f"memberships-0-{kind}": str(place.pk), "memberships-0-user": zora.pk}
        role = {"memberships-0-role": "editor" if kind == "group" else "member"}
        changed = page_for(boss).post(f"/admin/identity/{kind}/{place.pk}/change/", {**form, **row, **role})
        assert changed.status_code == 302
    erasure.delete_user(user=zora)
    assert LogEntry.objects.count() == 2, "that something was done stays on record"
    assert admin_connection.execute("SELECT 1 FROM django_admin_log t WHERE t::text ~ 'zwirn'").fetchone() is None


def test_a_deleted_person_is_out_everywhere(
    anna: User,
    ben: User,
    family: Group,
    page_for: Callable[[User], Client],
    client_for: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[str] = []
    monkeypatch.setattr(access, "_publish", lambda scope_ref, payload: told.append(scope_ref))
    elsewhere, api = page_for(ben), client_for(ben)
    assert elsewhere.get("/einstellungen/").status_code == 200
    assert api.get("/api/world/entities").status_code == 200
    erasure.delete_user(user=ben)
    assert elsewhere.get("/einstellungen/").status_code == 302
    assert api.get("/api/world/entities").status_code == 401
    assert user_scope(ben.sub) in told
    assert not Token.objects.filter(user=ben.pk).exists()
    assert [member.name for member in groups.get_group(user=anna, group_id=family.pk).members] == ["anna"]
    kinds = AuditEntry.objects.filter(acted_by=user_scope(ben.sub)).order_by("id").values_list("kind", flat=True)
    assert [kind for kind in kinds if kind in {"member_removed", "erased"}] == ["member_removed", "erased"]


def test_the_same_name_later_is_somebody_else(anna: User, ben: User, family: Group) -> None:
    erasure.delete_user(user=User.objects.get(pk=ben.pk))
    erasure.delete_user(user=ben)  # clicked twice
    again = make_user("ben")
    assert again.sub != ben.sub
    assert person(again).read_scopes == (user_scope(again.sub), "global")


def test_the_last_owner_names_another_one_first(anna: User, ben: User, family: Group, admin_connection: Admin) -> None:
    alone = groups.create_group(user=anna, name="Allein")
    before = rows_of(admin_connection, user_scope(anna.sub))
    with pytest.raises(Problem) as refused:
        erasure.delete_user(user=anna)
    assert (refused.value.code, refused.value.status) == ("last_owner", 409)
    assert "Familie" in refused.value.detail
    assert "Allein" not in refused.value.detail
    # Nothing has changed: neither her memory nor the group in which she is alone.
    assert rows_of(admin_connection, user_scope(anna.sub)) == before
    assert groups.get_group(user=anna, group_id=alone.pk).is_owner
    groups.change_role(user=anna, group_id=family.pk, sub=ben.sub, role=Role.OWNER)
    erasure.delete_user(user=anna)
    alone.refresh_from_db()
    assert alone.closed_at is not None
    assert groups.get_group(user=ben, group_id=family.pk).is_owner


def test_nobody_is_kept_by_owners_and_admins_who_are_locked_out(
    anna: User, ben: User, clara: User, family: Group, admin_connection: Admin
) -> None:
    """Who leads nothing takes nobody's lead away by going, also where nobody leads any more."""
    org = Org.objects.create(name="Verein")
    OrgMembership.objects.create(org=org, user=anna, role=OrgMembership.Role.ADMIN)
    for user in (ben, clara):
        OrgMembership.objects.create(org=org, user=user)
    groups.add_member(user=anna, group_id=family.pk, username="clara", role=Role.VIEWER)
    accounts.lock_out(anna)
    groups.leave(user=clara, group_id=family.pk)
    orgs.leave(user=clara, org_id=org.pk)
    erasure.delete_user(user=ben)
    assert count_of(admin_connection, user_scope(ben.sub)) == 0


def test_the_last_admin_of_an_organisation_does_so_too(anna: User, ben: User) -> None:
    org = Org.objects.create(name="Verein")
    OrgMembership.objects.create(org=org, user=anna, role=OrgMembership.Role.ADMIN)
    other = OrgMembership.objects.create(org=org, user=ben)
    assert code_of(lambda: erasure.delete_user(user=anna)) == "last_admin"
    other.delete()
    erasure.delete_user(user=anna)
    assert not org.memberships.exists()


def test_somebody_who_is_locked_out_loses_their_account_too(anna: User, admin_connection: Admin) -> None:
    accounts.lock_out(anna)
    erasure.delete_user(user=anna, acted_by="system:cli")
    assert count_of(admin_connection, user_scope(anna.sub)) == 0
    assert AuditEntry.objects.get(kind="erased").acted_by == "system:cli"
    assert isinstance(anna.sub, UUID)


def test_the_admin_deletes_nobody(anna: User, ben: User, family: Group, page_for: Callable[[User], Client]) -> None:
    """It would not ask who leads their groups from now on."""
    User.objects.filter(pk=anna.pk).update(is_staff=True, is_superuser=True)
    page = page_for(anna)
    assert page.post(f"/admin/identity/user/{ben.pk}/delete/", {"post": "yes"}).status_code == 403
    chosen = {"action": "delete_selected", "_selected_action": str(ben.pk), "post": "yes"}
    page.post("/admin/identity/user/", chosen)
    assert User.objects.filter(pk=ben.pk).exists()
