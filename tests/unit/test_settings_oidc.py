"""Identity providers from the environment: none, one without a name, several with names; never half a one."""

from __future__ import annotations

import os

import pytest
from django.core.exceptions import ImproperlyConfigured

from gedaechtnis.config import oidc
from gedaechtnis.identity.oidc.registration import provider_id

ONE, OTHER = "https://login.example/realm", "https://id.example"


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment that names no provider."""
    for name in [name for name in os.environ if name.startswith("GEDAECHTNIS_OIDC_")]:
        monkeypatch.delenv(name)
    return monkeypatch


def name_provider(given: pytest.MonkeyPatch, end: str = "", issuer: str = ONE, **more: str) -> None:
    for name, value in {"ISSUER": issuer, "CLIENT_ID": f"client{end}", **more}.items():
        given.setenv(f"GEDAECHTNIS_OIDC_{name}{end}", value)


def test_there_is_none_by_default(given: pytest.MonkeyPatch) -> None:
    assert oidc.providers() == []


def test_one_needs_no_name(given: pytest.MonkeyPatch) -> None:
    name_provider(given, GROUPS_CLAIM="groups", GROUPS="Familie, Chor")
    (only,) = oidc.providers()
    assert (only["provider_id"], only["name"], only["client_id"]) == (provider_id(ONE), "Single Sign-on", "client")
    assert (only["settings"]["groups_claim"], only["settings"]["groups"]) == ("groups", ["Chor", "Familie"])


def test_several_have_names_and_each_its_own_values(given: pytest.MonkeyPatch) -> None:
    given.setenv("GEDAECHTNIS_OIDC_PROVIDERS", "WORK, CHOIR_2")
    name_provider(given, "__WORK", ONE, GROUPS_CLAIM="roles", CLIENT_SECRET="hidden")
    name_provider(given, "__CHOIR_2", OTHER, NAME="Chor")
    choir, work = oidc.providers()
    assert (choir["name"], choir["client_id"], choir["settings"]["groups_claim"]) == ("Chor", "client__CHOIR_2", "")
    assert (work["name"], work["secret"], work["settings"]["groups_claim"]) == ("Work", "hidden", "roles")
    assert choir["provider_id"] != work["provider_id"]
    name_provider(given, "", "https://third.example")
    assert [one["settings"]["issuer"] for one in oidc.providers()] == ["https://third.example", OTHER, ONE]


@pytest.mark.parametrize("missing", ["ISSUER", "CLIENT_ID"])
def test_half_a_one_is_refused_by_the_name_of_its_variable(given: pytest.MonkeyPatch, missing: str) -> None:
    given.setenv("GEDAECHTNIS_OIDC_PROVIDERS", "WORK")
    name_provider(given, "__WORK", **{missing: ""})
    with pytest.raises(ImproperlyConfigured, match=f"GEDAECHTNIS_OIDC_{missing}__WORK"):
        oidc.providers()


def test_an_issuer_is_named_once(given: pytest.MonkeyPatch) -> None:
    given.setenv("GEDAECHTNIS_OIDC_PROVIDERS", "WORK")
    name_provider(given)
    name_provider(given, "__WORK")
    with pytest.raises(ImproperlyConfigured, match="GEDAECHTNIS_OIDC_ISSUER__WORK"):
        oidc.providers()


@pytest.mark.parametrize("name", ["work", "WORK-1", "_WORK", "A__B"])
def test_a_name_that_no_variable_could_end_in_is_refused(given: pytest.MonkeyPatch, name: str) -> None:
    given.setenv("GEDAECHTNIS_OIDC_PROVIDERS", name)
    with pytest.raises(ImproperlyConfigured, match="GEDAECHTNIS_OIDC_PROVIDERS"):
        oidc.providers()
