"""Signing in at an identity provider: who is who, what counts as proof, which groups follow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount, SocialToken
from django.contrib.sessions.models import Session
from django.test import Client

from gedaechtnis.identity.audit import Kind
from gedaechtnis.identity.models import AuditEntry, Group, GroupMembership, User
from gedaechtnis.identity.oidc import registration
from gedaechtnis.identity.principals import person
from tests import oidc
from tests.oidc import Issuer


def offer(settings: Any, *issuers: Issuer, **groups: Any) -> None:
    apps = [
        registration.app(
            issuer=issuer.url,
            client_id=oidc.CLIENT_ID,
            secret=oidc.CLIENT_SECRET,
            name=f"Haus {number}",
            scopes=["openid", "profile"],
            **groups,
        )
        for number, issuer in enumerate(issuers, start=1)
    ]
    settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": apps}}


@pytest.fixture
def home(database: None, settings: Any) -> Iterator[Issuer]:
    with oidc.issuer() as issuer:
        offer(settings, issuer)
        yield issuer


def sign_in(issuer: Issuer, client: Client | None = None, **claims: Any) -> Any:
    """The whole way of a browser; the last answer of ours, with the client that holds the session."""
    if claims:
        issuer.claims = claims
    client = client or Client()
    leave = client.post(f"/anmelden/bei/{registration.provider_id(issuer.url)}/", {"next": "/wissen/"})
    assert leave.status_code == 302, leave.content
    assert leave["Location"].startswith(f"{issuer.url}/authorize?")
    return client.get(oidc.follow(leave["Location"]).removeprefix("http://testserver"))


def user_of(response: Any) -> User | None:
    """Who is signed in now."""
    key = response.client.session.get("_auth_user_id")
    return User.objects.get(pk=key) if key else None


def assert_refused(response: Any) -> None:
    assert (response.status_code, response["Location"]) == (302, "/anmelden/")
    assert user_of(response) is None
    page = response.client.get("/anmelden/")
    assert "hat nicht geklappt" in page.content.decode()
    assert AuditEntry.objects.filter(kind=Kind.SIGN_IN_FAILED).count() == 1


def test_the_first_sign_in_makes_a_user_and_the_next_one_finds_them(home: Issuer) -> None:
    first = sign_in(home, sub="248289761001", preferred_username="anna", given_name="Anna", email="anna@example.org")
    assert (first.status_code, first["Location"]) == (302, "/wissen/")
    anna = user_of(first)
    assert anna is not None
    assert (anna.username, anna.first_name) == ("anna", "Anna")
    assert str(anna.sub) != "248289761001"
    assert not anna.has_usable_password()
    again = sign_in(home, sub="248289761001", preferred_username="another")
    assert user_of(again) == anna
    assert User.objects.count() == 1
    assert list(AuditEntry.objects.filter(kind=Kind.SIGN_IN).values_list("sub", flat=True)) == [anna.sub] * 2


def test_nothing_is_kept_but_issuer_and_subject(home: Issuer) -> None:
    sign_in(home, sub="1", email="anna@example.org", email_verified=True, name="Anna Weber", phone_number="4711")
    account = SocialAccount.objects.get()
    assert (account.provider, account.uid) == (registration.provider_id(home.url), "1")
    assert account.extra_data == {}
    assert User.objects.get().email == ""
    assert not EmailAddress.objects.exists()
    assert not SocialToken.objects.exists()


def test_the_same_subject_of_two_issuers_is_two_users(database: None, settings: Any) -> None:
    with oidc.issuer() as one, oidc.issuer() as other:
        offer(settings, one, other)
        users = [user_of(sign_in(issuer, sub="same", email="a@example.org")) for issuer in (one, other, one)]
        assert users[0] == users[2] != users[1]
        assert None not in users
        assert len({user.sub for user in users if user}) == 2


def test_another_issuer_in_the_settings_makes_other_people(home: Issuer, settings: Any) -> None:
    before = user_of(sign_in(home, sub="same"))
    with oidc.issuer() as later:
        offer(settings, later)
        assert user_of(sign_in(later, sub="same")) not in (None, before)


def test_nobody_is_recognised_by_name_or_address(home: Issuer, anna: User) -> None:
    anna.email = "anna@example.org"
    anna.save()
    claims = {"sub": "7", "preferred_username": "anna", "email": "anna@example.org", "email_verified": True}
    came = user_of(sign_in(home, **claims))
    assert came not in (None, anna)
    assert came is not None
    assert came.username != "anna"
    assert came.sub != anna.sub


def test_somebody_signed_in_is_not_joined_with_whom_they_sign_in_as(home: Issuer, anna: User) -> None:
    client = Client()
    client.force_login(anna)
    came = user_of(sign_in(home, client, sub="7"))
    assert came not in (None, anna)
    assert SocialAccount.objects.get().user == came


def test_the_session_is_a_new_one(home: Issuer, settings: Any) -> None:
    client = Client()
    planted = client.session.session_key
    response = sign_in(home, client, sub="1")
    assert user_of(response) is not None
    assert client.cookies[settings.SESSION_COOKIE_NAME].value != planted
    assert not Session.objects.filter(session_key=planted).exists()


@pytest.mark.parametrize(
    "lie",
    [
        {"foreign_key": True},
        {"algorithm": "HS256"},
        {"algorithm": "none"},
        {"id_token": {"iss": "https://other.example"}},
        {"id_token": {"aud": "somebody else"}},
        {"id_token": {"aud": [oidc.CLIENT_ID, "other"], "azp": "other"}},
        {"id_token": {"exp": 1}},
        {"id_token": {"exp": None}},
        {"id_token": {"sub": None}},
        {"id_token": {"sub": ""}},
        {"id_token": {"sub": "x" * 192}},
        {"id_token": {"sub": "a\x00b"}},
        {"userinfo": {"sub": "somebody else"}},
        {"error": "access_denied"},
        {"error": "server_error"},
    ],
    ids=str,
)
def test_a_proof_that_does_not_hold_signs_nobody_in(home: Issuer, lie: dict[str, Any]) -> None:
    for name, value in lie.items():
        setattr(home, name, value)
    assert_refused(sign_in(home))
    assert not User.objects.exists()


def test_an_issuer_that_speaks_for_another_is_not_even_asked(home: Issuer) -> None:
    home.discovery = {"issuer": "https://other.example"}
    client = Client()
    response = client.post(f"/anmelden/bei/{registration.provider_id(home.url)}/")
    response.client = client
    assert_refused(response)


def test_an_issuer_that_does_not_answer_is_said_in_words(database: None, settings: Any) -> None:
    with oidc.issuer() as gone:
        offer(settings, gone)
    client = Client()
    response = client.post(f"/anmelden/bei/{registration.provider_id(gone.url)}/")
    response.client = client
    assert_refused(response)


def test_an_answer_that_was_not_asked_for_signs_nobody_in(home: Issuer) -> None:
    client = Client()
    leave = client.post(f"/anmelden/bei/{registration.provider_id(home.url)}/")
    back = oidc.follow(leave["Location"]).removeprefix("http://testserver")
    assert_refused(Client().get(back))


def test_an_answer_counts_once(home: Issuer) -> None:
    client = Client()
    leave = client.post(f"/anmelden/bei/{registration.provider_id(home.url)}/")
    back = oidc.follow(leave["Location"]).removeprefix("http://testserver")
    assert user_of(client.get(back)) is not None
    client.post("/abmelden/")
    assert_refused(client.get(back))


def test_a_disabled_person_stays_outside(home: Issuer) -> None:
    sign_in(home, sub="1")
    User.objects.update(is_active=False)
    assert_refused(sign_in(home, sub="1"))


@pytest.mark.parametrize("target", ["https://evil.example/", "//evil.example/", "javascript:alert(1)"])
def test_nobody_is_led_away_afterwards(home: Issuer, target: str) -> None:
    client = Client()
    leave = client.post(f"/anmelden/bei/{registration.provider_id(home.url)}/", {"next": target})
    back = client.get(oidc.follow(leave["Location"]).removeprefix("http://testserver"))
    assert back["Location"] == "/"


def test_a_link_does_not_start_it(home: Issuer) -> None:
    path = f"/anmelden/bei/{registration.provider_id(home.url)}/"
    assert Client().get(path).status_code == 405
    assert Client(enforce_csrf_checks=True).post(path).status_code == 403


def test_the_sign_in_page_offers_what_is_configured_and_nothing_by_default(home: Issuer, settings: Any) -> None:
    page = Client().get("/anmelden/").content.decode()
    assert "Mit Haus 1 anmelden" in page
    assert 'name="password"' in page
    offer(settings)
    assert "/anmelden/bei/" not in Client().get("/anmelden/").content.decode()
    assert Client().post("/anmelden/bei/oidc-nothing/").status_code == 404
    assert Client().get("/anmelden/bei/oidc-nothing/zurueck/").status_code == 404


def groups_of(user: User | None) -> set[str]:
    assert user is not None
    return set(GroupMembership.objects.filter(user=user).values_list("group__name", flat=True))


def test_groups_follow_the_claim(home: Issuer, settings: Any) -> None:
    offer(settings, home, groups_claim="groups")
    user = user_of(sign_in(home, sub="1", groups=["Familie", "Werk", "Familie"]))
    assert groups_of(user) == {"Familie", "Werk"}
    assert user is not None
    family = Group.objects.get(name="Familie")
    assert f"group:{family.pk}" in person(user).write_scopes
    sign_in(home, sub="1", groups=["Werk", "Chor"])
    assert groups_of(user) == {"Werk", "Chor"}
    assert f"group:{family.pk}" not in person(user).read_scopes
    sign_in(home, sub="1")
    assert groups_of(user) == set()
    told = AuditEntry.objects.filter(acted_by="system:oidc").values_list("kind", flat=True)
    assert sorted(told) == [Kind.MEMBER_ADDED] * 3 + [Kind.MEMBER_REMOVED] * 3


def test_two_people_with_one_name_in_their_claim_share_a_group(home: Issuer, settings: Any) -> None:
    offer(settings, home, groups_claim="groups")
    for sub in ("1", "2"):
        sign_in(home, sub=sub, groups="Familie")
    assert Group.objects.get().memberships.count() == 2


def test_groups_that_the_claim_does_not_manage_are_left_alone(home: Issuer, settings: Any) -> None:
    offer(settings, home, groups_claim="groups")
    user = user_of(sign_in(home, sub="1", groups=["Familie"]))
    assert user is not None
    own = Group.objects.create(name="Garten")
    GroupMembership.objects.create(group=own, user=user, role="owner")
    GroupMembership.objects.filter(group__name="Familie").update(role="owner")
    sign_in(home, sub="1", groups=["Familie", "Garten"])
    assert GroupMembership.objects.get(user=user, group=own).role == "owner"
    assert GroupMembership.objects.get(user=user, group__name="Familie").role == "owner"
    assert Group.objects.filter(name="Garten").count() == 2, "a name in a claim opens no group of ours"
    sign_in(home, sub="1", groups=[])
    assert groups_of(user) == {"Garten"}


def test_an_issuer_cannot_put_people_into_the_groups_of_another(database: None, settings: Any) -> None:
    with oidc.issuer() as one, oidc.issuer() as other:
        offer(settings, one, other, groups_claim="groups")
        for issuer in (one, other):
            sign_in(issuer, sub="1", groups=["Familie"])
    assert Group.objects.filter(name="Familie").count() == 2


def test_only_listed_groups_count_and_none_without_a_claim_named(home: Issuer, settings: Any) -> None:
    assert groups_of(user_of(sign_in(home, sub="1", groups=["Familie"]))) == set()
    offer(settings, home, groups_claim="groups", groups={"Familie"})
    assert groups_of(user_of(sign_in(home, sub="1", groups=["Familie", "alle-mitarbeitenden"]))) == {"Familie"}


@pytest.mark.parametrize("odd", [7, {"a": 1}, ["Familie", 7], [" ", "x" * 201, "a\x00b"], None])
def test_a_claim_that_is_no_list_of_names_names_nothing(home: Issuer, settings: Any, odd: Any) -> None:
    offer(settings, home, groups_claim="groups")
    assert groups_of(user_of(sign_in(home, sub="1", groups=odd))) == set()
    assert not Group.objects.exists()
