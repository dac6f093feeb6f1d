"""Taking a memory along: what is in the file, what is not, who may have it, and that it arrives piece by piece."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import StringIO
from typing import Any

import psycopg
import pytest
from asgiref.sync import async_to_sync
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from gedaechtnis.chat import services as chats
from gedaechtnis.common.problems import NotFound
from gedaechtnis.identity import groups
from gedaechtnis.identity.models import AuditEntry, Group, User
from gedaechtnis.identity.principals import person, user_scope
from gedaechtnis.memory.selectors import export, unavailable
from gedaechtnis.memory.services import facts
from gedaechtnis.scoping.models import ScopeClock
from tests.rows import insert_everywhere

Admin = psycopg.Connection[Any]


@pytest.fixture
def family(anna: User, ben: User) -> Group:
    """Anna's group; Ben edits."""
    made = groups.create_group(user=anna, name="Familie Weber")
    groups.add_member(user=anna, group_id=made.pk, username="ben")
    return made


def body_of(response: Any) -> str:
    """What a streaming answer sends, gathered as the server would send it."""

    async def gather() -> bytes:
        return b"".join([piece async for piece in response.streaming_content])

    return async_to_sync(gather)().decode()


def read(text: str) -> tuple[dict[str, Any], list[dict[str, Any]], dict[str, int]]:
    """Header, rows, and how many of each table the last line promises."""
    assert text.endswith("\n")
    header, *rows, footer = map(json.loads, text.removesuffix("\n").split("\n"))
    return header, rows, footer["rows"]


def take(principal: Any) -> tuple[dict[str, Any], list[dict[str, Any]], dict[str, int]]:
    with export.export_own(principal=principal) as file:
        return read(file.read().decode())


# ── What is in it ────────────────────────────────────────────────────────────


def test_every_row_of_every_table_of_the_scope_and_nothing_else(
    anna: User, ben: User, family: Group, admin_connection: Admin
) -> None:
    own = user_scope(anna.sub)
    admin_connection.execute("TRUNCATE entities, facts, fact_evidence, world_events")
    for ref in (own, user_scope(ben.sub), f"group:{family.pk}", "global"):
        insert_everywhere(admin_connection, ref)
    header, rows, counts = take(person(anna))
    assert (header["format"], header["version"], header["scope_ref"]) == ("gedaechtnis-export", 1, own)
    assert (header["scope_kind"], header["clearance"]) == ("user", 3)
    assert counts == {model._meta.db_table: 1 for model in export.exported_models()}
    for line in rows:
        (stored,) = admin_connection.execute(
            f"""SELECT to_jsonb(t) - 'scope_ref' - 'org_id' - 'search_key' FROM "{line["table"]}" t """
            "WHERE scope_ref = %s",
            [own],
        ).fetchone() or (None,)
        assert line["row"] == stored


def test_closed_rows_and_their_evidence_are_in_it(anna: User) -> None:
    me = person(anna)
    made = facts.introduce(principal=me, kind="place", name="Garten", scope_ref=me.default_scope)
    assert made.entity_id is not None
    text = "mit Teich\n\u2028und Brücke"
    note = facts.add_note(principal=me, entity_id=made.entity_id, text=text, scope_ref=me.default_scope)
    assert note.fact_id is not None
    facts.retract_fact(principal=me, fact_id=note.fact_id, reason="verwechselt")
    header, rows, counts = take(me)
    row = next(line["row"] for line in rows if line["row"]["id"] == str(note.fact_id))
    assert (row["object_value"], row["closed_reason"], row["reason"]) == (text, "retracted", "verwechselt")
    assert any(line["table"] == "fact_evidence" and line["row"]["fact_id"] == row["origin_fact_id"] for line in rows)
    assert sum(counts.values()) == len(rows)
    tick = ScopeClock.objects.get(pk=me.default_scope).tick
    assert header["tick"] == tick.isoformat().replace("+00:00", "Z")


def test_the_rows_come_in_an_order_in_which_they_can_be_written(anna: User) -> None:
    """New facts may only name entities that are there, which the database checks at once."""
    facts.introduce(principal=person(anna), kind="place", name="Garten", scope_ref=user_scope(anna.sub))
    tables = [line["table"] for line in take(person(anna))[1]]
    assert tables.index("facts") > max(index for index, table in enumerate(tables) if table == "entities")


def test_it_shows_one_instant(anna: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written while the file is being made is in none of its tables."""
    me, lines = person(anna), export._lines

    def interrupted(*args: Any) -> Any:
        for number, line in enumerate(lines(*args)):
            if number == 1:
                with psycopg.connect(**_address()) as other:
                    other.execute("SELECT set_config('gedaechtnis.write_scope', %s, true)", [me.default_scope])
                    other.execute(
                        "INSERT INTO chats (id, scope_ref, classification, title, is_main, created_at, last_seq, "
                        "source, external_id, original) "
                        "VALUES (gen_random_uuid(), %s, 1, 'später', false, now(), 0, '', '', '{}')",
                        [me.default_scope],
                    )
                    other.execute(
                        "INSERT INTO suppressions (id, scope_ref, classification, key, recorded_at) "
                        "VALUES (gen_random_uuid(), %s, 1, gen_random_uuid(), now())",
                        [me.default_scope],
                    )
            yield line

    monkeypatch.setattr(export, "_lines", interrupted)
    counts = take(me)[2]
    assert (counts["chats"], counts["suppressions"]) == (0, 0)
    monkeypatch.undo()
    counts = take(me)[2]
    assert (counts["chats"], counts["suppressions"]) == (1, 1)


def _address() -> dict[str, Any]:
    used = connection.settings_dict
    return {
        "host": used["HOST"],
        "port": used["PORT"],
        "dbname": used["NAME"],
        "user": used["USER"],
        "password": used["PASSWORD"],
    }


# ── Who gets it ──────────────────────────────────────────────────────────────


def test_a_program_gets_its_persons_scope_as_far_as_it_sees(anna: User, client_for: Callable[..., Any]) -> None:
    chats.main_chat(principal=person(anna))
    me = person(anna)
    facts.introduce(principal=me, kind="place", name="Garten", scope_ref=me.default_scope)
    whole = read(body_of(client_for(anna).get("/api/export")))
    assert whole[2]["entities"] == 2
    response = client_for(anna, clearance=0).get("/api/export")
    assert response.headers["Content-Type"] == "application/jsonl"
    assert response.headers["Cache-Control"] == "no-store"
    header, rows, counts = read(body_of(response))
    assert header["clearance"] == 0
    assert all(line["row"]["classification"] == 0 for line in rows)
    assert counts["entities"] == 0


def test_strangers_and_unknown_parameters_are_refused(anna: User, client_for: Callable[..., Any]) -> None:
    assert client_for(None).get("/api/export").status_code == 401
    assert client_for(anna).get("/api/export", {"scope": "global"}).status_code == 422


def test_a_closed_group_goes_to_its_owners_only(
    anna: User, ben: User, clara: User, family: Group, page_for: Callable[[User], Client]
) -> None:
    shared = f"group:{family.pk}"
    facts.introduce(principal=person(ben), kind="place", name="Garten", scope_ref=shared)
    address = f"/einstellungen/gruppen/{family.pk}/geschlossen/"
    assert page_for(anna).get(f"{address}herunterladen/").status_code == 404  # open
    groups.close_group(user=anna, group_id=family.pk)
    response = page_for(anna).get(f"{address}herunterladen/")
    assert response.headers["Content-Disposition"] == 'attachment; filename="familie-weber.jsonl"'
    header, rows, counts = read(body_of(response))
    assert (header["scope_ref"], counts["entities"]) == (shared, 1)
    assert any(line["row"].get("canonical_name") == "Garten" for line in rows)
    for user in (ben, clara):
        for path in (address, f"{address}herunterladen/"):
            assert page_for(user).get(path).status_code == 404
        assert page_for(user).post(f"{address}loeschen/").status_code == 404
        with pytest.raises(NotFound):
            export.export_closed_group(user=user, group_id=family.pk)


def test_no_other_door_reads_a_closed_group(
    anna: User, family: Group, page_for: Callable[[User], Client], client_for: Callable[..., Any]
) -> None:
    shared = f"group:{family.pk}"
    made = facts.introduce(principal=person(anna), kind="place", name="Garten", scope_ref=shared)
    page, api = page_for(anna), client_for(anna)
    groups.close_group(user=anna, group_id=family.pk)
    assert page.get(f"/wissen/{made.entity_id}/").status_code == 404
    assert page.get(f"/einstellungen/gruppen/{family.pk}/").status_code == 404
    assert api.get(f"/api/world/entities/{made.entity_id}").status_code == 404
    assert "Garten" not in page.get("/wissen/").content.decode()
    for path in ("/api/world/entities", "/api/world/entities?q=Garten"):
        assert "Garten" not in api.get(path).content.decode()
    assert "Garten" not in body_of(api.get("/api/export"))
    refused = api.post("/api/world/proposals", {"operations": []}, **{"Gedaechtnis-Scope": shared})
    assert refused.status_code in (403, 422)


def test_each_export_is_on_record(anna: User, family: Group, client_for: Callable[..., Any]) -> None:
    body_of(client_for(anna, agent_role="assistant").get("/api/export"))
    groups.close_group(user=anna, group_id=family.pk)
    export.export_closed_group(user=anna, group_id=family.pk).close()
    own, shared = AuditEntry.objects.filter(kind="exported").order_by("id")
    assert (own.acted_by, own.sub) == (f"agent:assistant@{user_scope(anna.sub)}", anna.sub)
    assert own.token_id is not None
    assert own.details["scope"] == user_scope(anna.sub)
    assert (shared.acted_by, shared.details["scope"]) == (user_scope(anna.sub), f"group:{family.pk}")


# ── The pages of leaving ─────────────────────────────────────────────────────


def test_a_note_without_a_place_is_listed_and_put_away(
    anna: User, ben: User, family: Group, page_for: Callable[[User], Client], client_for: Callable[..., Any]
) -> None:
    own, shared = user_scope(ben.sub), f"group:{family.pk}"
    made = facts.introduce(principal=person(anna), kind="place", name="Garten", scope_ref=shared)
    assert made.entity_id is not None
    for text in ("verwildert", "verwunschen"):
        facts.add_note(principal=person(ben), entity_id=made.entity_id, text=text, scope_ref=own)
    assert unavailable.list_unavailable(principal=person(ben)) == ()
    groups.remove_member(user=anna, group_id=family.pk, sub=ben.sub)
    second, first = unavailable.list_unavailable(principal=person(ben))
    assert [first.value, second.value] == ["verwildert", "verwunschen"]
    assert unavailable.list_unavailable(principal=person(anna)) == ()
    page = page_for(ben)
    text = page.get("/einstellungen/daten/").content.decode()
    assert "verwildert" in text
    assert "zu etwas, das nicht mehr da ist" in text
    assert "Garten" not in text
    for path in (f"/tatsachen/{first.fact_id}/", f"/tatsachen/{first.fact_id}/?next=/"):
        assert page.get(path).status_code == 404
    assert client_for(ben).get(f"/api/world/facts/{first.fact_id}/explain").status_code == 404
    # Nobody else puts it away.
    assert page_for(anna).post(f"/einstellungen/daten/{first.fact_id}/beenden/").status_code == 404
    assert page.post(f"/einstellungen/daten/{first.fact_id}/beenden/").status_code == 302
    assert page.post(f"/einstellungen/daten/{second.fact_id}/zuruecknehmen/").status_code == 302
    assert unavailable.list_unavailable(principal=person(ben)) == ()


def test_deleting_oneself_needs_the_password(anna: User, page_for: Callable[[User], Client]) -> None:
    page = page_for(anna)
    response = page.post("/einstellungen/daten/konto-loeschen/", {"password": "geheim-ben"})
    assert response.status_code == 422
    assert "Das ist nicht dein Passwort." in response.content.decode()
    assert User.objects.filter(pk=anna.pk).exists()
    response = page.post("/einstellungen/daten/konto-loeschen/", {"password": "geheim-anna"}, follow=True)
    assert response.redirect_chain == [("/anmelden/", 302)]
    assert "Dein Konto und dein Gedächtnis sind gelöscht." in response.content.decode()
    assert not User.objects.filter(pk=anna.pk).exists()


def test_passwords_are_not_guessed_there_either(anna: User, page_for: Callable[[User], Client]) -> None:
    page = page_for(anna)
    for _try in range(5):
        page.post("/einstellungen/daten/konto-loeschen/", {"password": "falsch"})
    response = page.post("/einstellungen/daten/konto-loeschen/", {"password": "geheim-anna"})
    assert response.status_code == 422
    assert User.objects.filter(pk=anna.pk).exists()


def test_who_signs_in_elsewhere_types_their_user_name(anna: User, page_for: Callable[[User], Client]) -> None:
    anna.set_unusable_password()
    anna.save()
    page = page_for(anna)
    assert page.post("/einstellungen/daten/konto-loeschen/", {"username": "ben"}).status_code == 422
    assert page.post("/einstellungen/daten/konto-loeschen/", {"username": "anna"}).status_code == 302
    assert not User.objects.filter(pk=anna.pk).exists()


def test_the_last_owner_is_told_what_to_do_first(anna: User, family: Group, page_for: Callable[[User], Client]) -> None:
    response = page_for(anna).post("/einstellungen/daten/konto-loeschen/", {"password": "geheim-anna"})
    assert response.status_code == 409
    assert "Familie Weber" in response.content.decode()


def test_the_command_deletes_who_is_named_twice(anna: User, ben: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", StringIO("anne\n"))
    with pytest.raises(CommandError):
        call_command("user", "delete", "anna", verbosity=0)
    with pytest.raises(CommandError):
        call_command("user", "delete", "niemand", "--yes")
    assert User.objects.count() == 2
    monkeypatch.setattr("sys.stdin", StringIO("anna\n"))
    call_command("user", "delete", "anna")
    call_command("user", "delete", "ben", "--yes")
    assert not User.objects.exists()
    assert set(AuditEntry.objects.filter(kind="erased").values_list("acted_by", flat=True)) == {"system:command"}
