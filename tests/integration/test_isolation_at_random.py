"""Three people, two groups and an org act at random; no answer ever holds what its reader may not read.

All that is written into a scope carries the mark of that scope, so that a leak shows in whatever answer it
stands: a name, a text, an error, a frame on a socket. Ids are compared with the rows stored, numbers with what may be
counted, and what cannot be read is asked for side by side with what does not exist. People come and go meanwhile: what
somebody may know is what stands in rows that they read today, their own notes from better days included.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from django.test import Client
from django.urls import reverse

from gedaechtnis.identity.models import Group, GroupMembership, Org, OrgMembership, User
from gedaechtnis.identity.principals import person
from gedaechtnis.live import publisher
from gedaechtnis.memory.selectors import entities
from gedaechtnis.scoping import work
from gedaechtnis.scoping.tables import scoped_models
from tests.conftest import ApiClient, text_of
from tests.integration.test_isolation_matrix import policy_replaced
from tests.sockets import Lines, lines

STEPS = 400
PAGES = ("home", "explorer", "totals", "settings", "groups", "orgs", "tokens", "security-log", "data", "data-download")
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_FRESH = re.compile(
    r'((?:csrfmiddlewaretoken|client_id)" value=|X-CSRFToken[^:]*: ?)"[^"]*"|Der Kurator liest (?:in \d+ s|gerade) mit'
)
"""What differs from one request to the next whatever was asked: tokens, and how long the curator still waits."""
_TABLES = [model._meta.db_table for model in scoped_models()]
_STORED = " UNION ALL ".join(
    [
        *(f"SELECT id::text, scope_ref, '{table}' FROM {table}" for table in _TABLES),
        "SELECT id::text, 'group:' || id, 'identity_group' FROM identity_group",
        "SELECT id::text, 'org:' || id, 'identity_org' FROM identity_org",
        "SELECT t.id::text, 'user:' || u.sub, 'identity_token' FROM identity_token t JOIN identity_user u "
        "ON u.id = t.user_id WHERE t.name <> 'test'",
    ]
)
_KNOWN = " UNION ALL ".join(
    f"SELECT 1 FROM {table} t WHERE scope_ref = ANY (%(reads)s) AND strpos(t::text, %(words)s) > 0" for table in _TABLES
)


@dataclass(kw_only=True)
class Actor:
    user: User
    rest: ApiClient
    agent: ApiClient
    page: Client

    @property
    def reads(self) -> frozenset[str]:
        return frozenset(person(self.user).read_scopes)


@dataclass(kw_only=True)
class Cast:
    """Everybody, the marks of the scopes, and what is stored in them by now."""

    random: Random
    admin: psycopg.Connection[Any]
    actors: list[Actor]
    marks: dict[str, str]
    lines: Lines | None = None
    scope_of: dict[str, str] = field(default_factory=dict)
    ids: dict[str, list[str]] = field(default_factory=dict)
    names: list[tuple[str, str, str]] = field(default_factory=list)
    written: int = 0
    frames: int = 0
    changes: int = 0

    def look(self) -> None:
        """Learn what is stored now, past the policies."""
        self.ids = {}
        for id, scope_ref, table in self.admin.execute(_STORED):
            self.scope_of[id] = scope_ref
            self.ids.setdefault(table, []).append(id)
        self.names = self.admin.execute(
            "SELECT canonical_name, kind || ':' || slug, scope_ref FROM entities"
        ).fetchall()

    def text(self, scope_ref: str) -> str:
        """Words that are found nowhere but in this scope."""
        self.written += 1
        return f"{self.marks[scope_ref]} n{self.written}"

    def memberships(self) -> list[tuple[Any, ...]]:
        """Who is where, and as what."""
        return self.admin.execute(
            "SELECT user_id, group_id, role FROM identity_groupmembership "
            "UNION ALL SELECT user_id, org_id, role FROM identity_orgmembership ORDER BY 1, 2"
        ).fetchall()

    def leader(self, kind: str, id: str, role: str) -> Actor:
        """Somebody who may change who is in a group or an org."""
        led = self.admin.execute(
            f"SELECT user_id FROM identity_{kind}membership WHERE {kind}_id = %s AND role = %s", [id, role]
        ).fetchall()
        return next(actor for actor in self.actors if (actor.user.pk,) in led)

    def any_id(self, table: str) -> str:
        return self.random.choice(self.ids.get(table) or [str(uuid4())])

    def check(self, actor: Actor, answer: str, *, sent: str = "") -> None:
        """No text and no id of a scope that the actor does not read, but what they sent or own themselves."""
        reads = actor.reads
        for scope_ref, mark in self.marks.items():
            if scope_ref not in reads and mark not in sent:
                for words in set(re.findall(rf"{mark}(?:[ -]n\d+)?", answer)):
                    assert self.knows(reads, words), f"{actor.user} reads “{words}” of {scope_ref}"
        for id in set(_UUID.findall(answer)):
            scope_ref = self.scope_of.get(id, "global")
            if scope_ref not in reads and id not in sent:
                assert self.knows(reads, id), f"{actor.user} reads an id of {scope_ref}"

    def knows(self, reads: frozenset[str], words: str) -> bool:
        """Whether words stand in a row of these scopes."""
        found = self.admin.execute(_KNOWN, {"reads": list(reads), "words": words}).fetchone()
        return found is not None

    def listen(self, before: dict[UUID, frozenset[str]]) -> None:
        """Each line heard ids of rows only, and only of those its person read before the last act or after it."""
        if self.lines is None:
            return
        heard = self.lines.heard()
        self.look()
        for actor in self.actors:
            reads = before[actor.user.sub] | actor.reads
            for frame in heard[actor.user.sub]:
                self.frames += 1
                assert set(frame) == {"type", "ids"}
                foreign = {self.scope_of.get(id, "nowhere") for id in frame["ids"]} - reads
                assert not foreign, f"{actor.user} hears of {foreign}"


def shown(response: Any) -> str:
    """Everything that reaches the caller: status, headers, body."""
    headers = "\n".join(f"{name}: {value}" for name, value in sorted(response.headers.items()) if name != "Set-Cookie")
    body = text_of(response).replace("\\u002D", "-")
    return _FRESH.sub("fresh", f"{response.status_code}\n{headers}\n{body}")


Ask = Callable[[str], Any]


def by_id(cast: Cast, actor: Actor, table: str, ask: Ask, *, id: str = "", sent: str = "") -> None:
    """Ask for any row by its id; one that cannot be read must answer like one that does not exist."""
    id = id or cast.any_id(table)
    answer = shown(ask(id))
    cast.look()
    cast.check(actor, answer, sent=id + sent)
    if cast.scope_of.get(id) not in actor.reads:
        missing = str(uuid4())
        same = shown(ask(missing)).replace(missing, id)
        assert_same(answer, same)


_LENGTH = re.compile(r"Content-Length: \d+")


def assert_same(answer: str, to_missing: str) -> None:
    """Byte for byte, but for the length that what was asked for itself adds."""
    assert _LENGTH.sub("", answer).splitlines() == _LENGTH.sub("", to_missing).splitlines()


def told(cast: Cast, actor: Actor, answer: Any, *, sent: str = "") -> None:
    cast.look()
    cast.check(actor, shown(answer), sent=sent)


# What people do


def remember(cast: Cast, actor: Actor) -> None:
    """Something new, in any scope: where they may not write it is refused."""
    scope_ref = cast.random.choice(list(cast.marks))
    allowed = scope_ref in person(actor.user).write_scopes
    words = cast.text(scope_ref)
    hint = f"person:h{cast.written}"
    operations = [
        {"op": "upsert_entity", "id_hint": hint, "kind": "person", "canonical_name": words},
        {"op": "assert_fact", "subject_ref": hint, "predicate": "likes", "object_value": words},
        {"op": "assert_fact", "subject_ref": hint, "predicate": "allergic_to", "object_value": words},
    ]
    client = cast.random.choice([actor.rest, actor.agent])
    answer = client.post("/api/world/proposals", {"operations": operations}, **{"Gedaechtnis-Scope": scope_ref})
    assert answer.status_code == (200 if allowed else 403)
    told(cast, actor, answer, sent=words)


def relate(cast: Cast, actor: Actor) -> None:
    """Any two entities, by id, reference or name: what cannot be read is unknown."""
    own = person(actor.user).default_scope
    words = cast.text(own)

    def ask(subject: str) -> Any:
        operation = {"op": "assert_fact", "subject_ref": subject, "predicate": "note", "object_value": words}
        return actor.rest.post(
            "/api/world/proposals", {"run_id": f"r{cast.written}-{subject}", "operations": [operation]}
        )

    if cast.random.random() < 0.5:
        by_id(cast, actor, "entities", ask)
    else:
        name = cast.random.choice(cast.names)[cast.random.randint(0, 1)]
        told(cast, actor, ask(name), sent=f"{words} {name}")


def read_entity(cast: Cast, actor: Actor) -> None:
    part = cast.random.choice(["", "/facts", "/history?beliefs=all"])
    by_id(cast, actor, "entities", lambda id: actor.rest.get(f"/api/world/entities/{id}{part}"))


def read_fact(cast: Cast, actor: Actor) -> None:
    part = cast.random.choice(["", "/explain"])
    by_id(cast, actor, "facts", lambda id: actor.rest.get(f"/api/world/facts/{id}{part}"))


def change_fact(cast: Cast, actor: Actor) -> None:
    id = cast.any_id("facts")
    scope_ref = cast.scope_of.get(id, "")
    words = cast.text(scope_ref if scope_ref in cast.marks else person(actor.user).default_scope)
    verb, body = cast.random.choice([("invalidate", {}), ("end", {}), ("correct", {"object_value": words})])
    by_id(cast, actor, "facts", lambda id: actor.rest.post(f"/api/world/facts/{id}/{verb}", body), id=id, sent=words)


def decide(cast: Cast, actor: Actor) -> None:
    verb = cast.random.choice(["accept", "reject"])
    by_id(cast, actor, "proposals", lambda id: actor.rest.post(f"/api/world/proposals/{id}/{verb}", {}))


def list_things(cast: Cast, actor: Actor) -> None:
    address = cast.random.choice(
        [
            "/api/world/entities",
            "/api/world/proposals?state=all",
            "/api/world/facts?predicate=likes",
            "/api/world/facts?predicate=note",
            "/api/review-items",
            "/api/chats",
            "/api/export",
        ]
    )
    told(cast, actor, cast.random.choice([actor.rest, actor.agent]).get(address))


def search(cast: Cast, actor: Actor) -> None:
    """A foreign mark finds what nonsense finds."""
    scope_ref, mark = cast.random.choice(list(cast.marks.items()))
    nonsense = "q" * len(mark)
    for ask in (
        lambda q: actor.rest.get("/api/world/entities", {"q": q}),
        lambda q: actor.rest.get("/api/world/resolve", {"name": q}),
        lambda q: actor.page.get(reverse("explorer"), {"q": q}),
    ):
        answer = shown(ask(mark))
        cast.check(actor, answer, sent=mark)
        if scope_ref not in actor.reads:
            assert_same(answer, shown(ask(nonsense)).replace(nonsense, mark))


def speak(cast: Cast, actor: Actor) -> None:
    """In any chat; a question about anything."""
    name = cast.random.choice([name for name, _ref, scope_ref in cast.names if scope_ref in actor.reads])
    own = cast.text(person(actor.user).default_scope)
    text = cast.random.choice([f"Was weißt du über {name}?", f"{own} ist meine Schwester"])
    if cast.random.random() < 0.5:
        told(cast, actor, actor.page.post(reverse("message-post"), {"text": text}, follow=True), sent=text)
    else:
        asked = text.replace(name, own)
        by_id(cast, actor, "chats", lambda id: actor.rest.post(f"/api/chats/{id}/messages", {"text": asked}))


def read_chat(cast: Cast, actor: Actor) -> None:
    by_id(cast, actor, "chats", lambda id: actor.rest.get(f"/api/chats/{id}/messages"))


def open_page(cast: Cast, actor: Actor) -> None:
    told(cast, actor, actor.page.get(reverse(cast.random.choice(PAGES))))


def open_detail(cast: Cast, actor: Actor) -> None:
    name, table = cast.random.choice(
        [("entity", "entities"), ("fact", "facts"), ("group", "identity_group"), ("org", "identity_org")]
    )
    by_id(cast, actor, table, lambda id: actor.page.get(reverse(name, args=[id])))


def note(cast: Cast, actor: Actor) -> None:
    """On anything, for any place to read."""
    place = cast.random.choice(list(cast.marks))
    words = cast.text(place)
    form = {"text": words, "scope": place}
    by_id(
        cast,
        actor,
        "entities",
        lambda id: actor.page.post(reverse("entity-note", args=[id]), form, follow=True),
        sent=words + place,
    )


def introduce(cast: Cast, actor: Actor) -> None:
    place = cast.random.choice(list(cast.marks))
    words = cast.text(place)
    form = {"kind": "person", "name": words, "scope": place}
    told(cast, actor, actor.page.post(reverse("entity-new"), form, follow=True), sent=words + place)


def hand_out(cast: Cast, actor: Actor) -> None:
    """A token for any place, or the end of anybody's."""
    if cast.random.random() < 0.5:
        place = cast.random.choice(list(cast.marks))
        form = {"name": cast.text(person(actor.user).default_scope), "write_scope": place, "clearance": 3, "days": 30}
        told(cast, actor, actor.page.post(reverse("tokens"), form), sent=place)
    else:
        by_id(cast, actor, "identity_token", lambda id: actor.page.post(reverse("token-revoke", args=[id])))


def change_members(cast: Cast, actor: Actor) -> None:
    """Of any group or org: only its owners and admins get their way, and everybody is told what is theirs to know."""
    other = cast.random.choice(cast.actors).user
    kind, role, leading = cast.random.choice(
        [("group", "editor", "owner"), ("group", "viewer", "owner"), ("org", "member", "admin")]
    )
    id = cast.any_id(f"identity_{kind}")
    if cast.random.random() < 0.7:
        actor = cast.leader(kind, id, leading)
    verb = cast.random.choice(["add", "add", "role", "remove", "leave"])
    form = {"username": other.username, "role": cast.random.choice([role, role, leading])}
    known = actor.reads
    held = cast.memberships()

    def ask(id: str) -> Any:
        address = reverse(f"{kind}-{verb}", args=[id, other.sub] if verb in ("role", "remove") else [id])
        return actor.page.post(address, form, follow=True)

    if f"{kind}:{id}" in known:
        # Who leaves is told what they left.
        told(cast, actor, ask(id), sent=f"{id} {cast.marks[f'{kind}:{id}']}")
    else:
        by_id(cast, actor, f"identity_{kind}", ask, id=id, sent=str(other.sub))
    cast.changes += cast.memberships() != held


def act_on_page(cast: Cast, actor: Actor) -> None:
    name, table = cast.random.choice(
        [
            ("fact-retract", "facts"),
            ("fact-end", "facts"),
            ("proposal-accept", "proposals"),
            ("proposal-reject", "proposals"),
            ("fact-classify", "facts"),
            ("unavailable-end", "facts"),
            ("unavailable-retract", "facts"),
        ]
    )
    by_id(cast, actor, table, lambda id: actor.page.post(reverse(name, args=[id]), {"level": "3"}, follow=True))


def count(cast: Cast, actor: Actor) -> None:
    """Numbers are those of what may be read."""
    reads = list(actor.reads)
    seen = entities.totals(principal=person(actor.user))
    stored = cast.admin.execute(
        "SELECT (SELECT count(*) FROM entities WHERE scope_ref = ANY (%(s)s) AND status = 'active'), "
        "(SELECT count(*) FROM facts WHERE scope_ref = ANY (%(s)s) AND superseded_at IS NULL)",
        {"s": reads},
    ).fetchone()
    assert (seen.entities, seen.facts) == stored


def let_the_worker_run(cast: Cast, actor: Actor) -> None:
    cast.admin.execute("UPDATE work SET due_at = now() - interval '1 second' WHERE kind <> 'ensure_event_partitions'")
    work.run_due()
    assert cast.admin.execute("SELECT count(*) FROM work WHERE last_error <> ''").fetchone() == (0,)
    cast.look()


ACTS = (
    [remember] * 3
    + [relate, relate, speak, speak, change_fact, decide, decide]
    + [read_entity, read_fact, list_things, search, read_chat, open_page, open_page, open_detail, act_on_page, count]
    + [note, note, introduce, hand_out]
    + [change_members] * 3
    + [let_the_worker_run]
)


@contextmanager
def people(seed: int, client_for: Any, page_for: Any) -> Iterator[Cast]:
    users = {
        name: User.objects.create(username=name, first_name=name.capitalize()) for name in ("anna", "ben", "clara")
    }
    org = Org.objects.create(name="mkorg")
    first = Group.objects.create(name="mkone", org=org)
    second = Group.objects.create(name="mktwo")
    for name, role in [("anna", OrgMembership.Role.ADMIN), ("ben", OrgMembership.Role.MEMBER)]:
        OrgMembership.objects.create(org=org, user=users[name], role=role)
    for group, name, held in [
        (first, "anna", GroupMembership.Role.OWNER),
        (first, "ben", GroupMembership.Role.EDITOR),
        (second, "ben", GroupMembership.Role.OWNER),
        (second, "clara", GroupMembership.Role.VIEWER),
    ]:
        GroupMembership.objects.create(group=group, user=users[name], role=held)
    marks = {person(user).default_scope: f"mk{name}" for name, user in users.items()}
    marks.update({f"group:{first.pk}": "mkone", f"group:{second.pk}": "mktwo", f"org:{org.pk}": "mkorg"})
    with psycopg.connect(os.environ["DATABASE_ADMIN_URL"], autocommit=True) as admin:
        actors = [
            Actor(user=user, rest=client_for(user), agent=client_for(user, agent_role="helper"), page=page_for(user))
            for user in users.values()
        ]
        cast = Cast(random=Random(seed), admin=admin, actors=actors, marks=marks)  # noqa: S311
        for actor in actors:
            actor.page.get(reverse("home"))
        cast.look()
        yield cast


def act_at_random(cast: Cast, steps: int) -> None:
    for _step in range(steps):
        before = {actor.user.sub: actor.reads for actor in cast.actors}
        cast.random.choice(ACTS)(cast, cast.random.choice(cast.actors))
        cast.listen(before)


@pytest.mark.parametrize("table", ["entities", "facts"])
def test_the_game_finds_a_hole(database: None, client_for: Any, page_for: Any, table: str) -> None:
    with (
        people(1, client_for, page_for) as cast,
        policy_replaced(cast.admin, table, "scope_read", "true"),
        pytest.raises(AssertionError),
    ):
        act_at_random(cast, STEPS)


def test_the_game_hears_a_foreign_frame(database: None, client_for: Any, page_for: Any) -> None:
    with people(1, client_for, page_for) as cast, lines([actor.user for actor in cast.actors]) as cast.lines:
        anna, _ben, clara = cast.actors
        told(cast, anna, anna.page.post(reverse("entity-new"), {"kind": "pet", "name": "mkanna n0"}))
        foreign = next(id for id, scope_ref in cast.scope_of.items() if scope_ref == person(anna.user).default_scope)
        reads = {actor.user.sub: actor.reads for actor in cast.actors}
        cast.listen(reads)
        publisher.publish(person(clara.user).default_scope, {"type": "memory.committed", "ids": [foreign]})
        with pytest.raises(AssertionError, match="hears of"):
            cast.listen(reads)


@pytest.mark.parametrize("seed", [1])
def test_no_answer_holds_what_its_reader_may_not_read(
    database: None, client_for: Any, page_for: Any, seed: int
) -> None:
    with people(seed, client_for, page_for) as cast, lines([actor.user for actor in cast.actors]) as cast.lines:
        act_at_random(cast, STEPS)
        assert all(len(cast.ids.get(table, ())) > 5 for table in ("entities", "facts", "messages", "proposals"))
        assert set(cast.scope_of.values()) >= set(cast.marks), "something was written everywhere"
        assert cast.frames > 50
        assert cast.changes > 3, "people came and went"
