"""The pages of a workspace's knowledge: rules switched, facts put right, contradictions settled, notes changed."""

from __future__ import annotations

import re
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from gedaechtnis.identity.models import User
from gedaechtnis.identity.principals import Principal, agent, person
from gedaechtnis.knowledge import grants, hot, pads, policies
from gedaechtnis.knowledge.facts import propose_statement
from gedaechtnis.knowledge.policy_changes import propose_policy
from gedaechtnis.memory.schemas import OperationResult
from gedaechtnis.memory.selectors import conflicts
from gedaechtnis.memory.services import governance
from tests.e2e.conftest import SCREENS, Open, apart, wait_until_told

pytestmark = pytest.mark.e2e

BACKUP, LATER = "Die Sicherung läuft jede Nacht um 2 Uhr.", "Die Sicherung läuft jede Nacht um 3 Uhr."
SPACES, TABS = "Rücke mit vier Leerzeichen ein", "Rücke mit Tabs ein"
PAGES = {"facts": "/gebiete/", "rules": "/regeln/", "notes": "/arbeitsgedaechtnis/", "conflicts": "/widersprueche/"}


def say(principal: Principal, content: str, domain: str = "architecture", **more: Any) -> OperationResult:
    return propose_statement(principal=principal, content=content, domain=domain, **more).results[-1]


@pytest.fixture
def workspace(anna: User) -> None:
    """Anna's: facts under three domains, rules, an agent's notes, and one contradiction that waits."""

    def tell() -> None:
        me, builder = person(anna), agent(anna, "builder")
        say(me, "Der Server antwortet auf Port 8000.", topic="ports")
        say(me, BACKUP, "operations", topic="backup")
        say(me, "Vor jeder Freigabe läuft die ganze Suite.", "repo:gedaechtnis/release")
        say(builder, LATER, "operations", topic="backup")
        propose_policy(principal=me, rule=SPACES, domain="style")
        propose_policy(principal=me, rule="Schreibe Commits auf Englisch", domain="style", repo="gedaechtnis")
        propose_policy(principal=me, rule="Frage, bevor du etwas löschst", required_role="reviewer")
        propose_policy(principal=builder, rule="Lass Tests vor jedem Commit laufen", domain="style")
        pads.update(principal=builder, text="Als Nächstes: das Protokoll der Nacht lesen.\n- Tests brauchen Valkey")
        pads.record_observation(principal=builder, text="Die Suite dauert zwölf Minuten.")
        hot.remember(principal=builder, text="Valkey hört auf Port 6390.", domain="operations", topic="ports")

    apart(tell)


@pytest.mark.parametrize(("language", "theme", "width"), [("de", "light", 1440), ("en", "dark", 390)])
def test_the_pages_are_accessible_and_fit(
    workspace: None, anna: User, visit: Open, language: str, theme: str, width: int
) -> None:
    anna.language = language
    apart(lambda: anna.save(update_fields=["language"]))
    page = visit("/", width=width, color_scheme=theme)
    for name, path in (PAGES | {"domain": "/gebiete/?domain=style", "begun": "/?text=Regel:%20"}).items():
        page.goto(path)
        check(page, f"knowledge-{name}-{language}-{theme}-{width}")
    page.goto("/regeln/")
    page.locator(".rule summary").first.click()
    check(page, f"knowledge-change-{language}-{theme}-{width}")


@pytest.mark.parametrize(("theme", "width"), [("dark", 1440), ("light", 390)])
def test_the_empty_pages_are_too(anna: User, visit: Open, theme: str, width: int) -> None:
    page = visit("/", width=width, color_scheme=theme)
    for name, path in PAGES.items():
        page.goto(path)
        check(page, f"knowledge-empty-{name}-{theme}-{width}")


def check(page: Page, name: str) -> None:
    SCREENS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENS / f"{name}.png", full_page=True)
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), name


# ── Rules ────────────────────────────────────────────────────────────────────


def rule(page: Page, text: str) -> Locator:
    return page.locator(".rule").filter(has_text=text)


def told(anna: User) -> list[str]:
    return apart(lambda: [one.rule for one in policies.active(principal=person(anna))])


@pytest.fixture(params=[True, False], ids=["with scripts", "without"])
def scripts(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def test_a_rule_is_switched_off_and_on(workspace: None, anna: User, visit: Open, scripts: bool) -> None:
    page = visit("/regeln/", java_script_enabled=scripts)
    switch = rule(page, SPACES).get_by_role("switch")
    expect(switch).to_be_checked()
    switch.click()
    expect(switch).not_to_be_checked()
    expect(rule(page, SPACES)).to_contain_text("abgeschaltet")
    expect(page.locator("#live")).to_contain_text("Die Regel ist aus.")
    assert SPACES not in told(anna)
    if scripts:
        expect(switch).to_be_focused()
    switch.click()
    expect(switch).to_be_checked()
    expect(page.locator(".budget")).to_contain_text("3 Regeln gehen in jeden Lauf.")
    assert SPACES in told(anna)


def test_a_rule_is_worded_anew_and_that_is_undone(workspace: None, anna: User, visit: Open, scripts: bool) -> None:
    page = visit("/regeln/", java_script_enabled=scripts)
    row = rule(page, SPACES)
    row.get_by_text("Ändern", exact=True).click()
    row.get_by_label("Die Regel ab jetzt").fill("Zwei\nZeilen")
    row.get_by_role("button", name="Speichern").click()
    expect(page.get_by_role("alert")).to_be_visible()
    faulty = page.locator(".rule:has([role=alert])")
    expect(faulty.get_by_label("Die Regel ab jetzt")).to_have_value("Zwei\nZeilen")
    faulty.get_by_label("Die Regel ab jetzt").fill(TABS)
    faulty.get_by_role("button", name="Speichern").click()
    expect(rule(page, TABS)).to_be_visible()
    expect(rule(page, SPACES)).to_have_count(0)
    assert TABS in told(anna)
    page.locator("#live").get_by_role("button", name="Rückgängig").click()
    expect(rule(page, SPACES)).to_be_visible()
    assert TABS not in told(anna)


def test_a_rule_is_deleted_and_brought_back(workspace: None, anna: User, visit: Open, scripts: bool) -> None:
    page = visit("/regeln/", java_script_enabled=scripts)
    rule(page, SPACES).get_by_role("button", name="Löschen").click()
    expect(rule(page, SPACES)).to_have_count(0)
    assert SPACES not in told(anna)
    page.locator("#live").get_by_role("button", name="Rückgängig").click()
    expect(rule(page, SPACES)).to_be_visible()
    assert SPACES in told(anna)


@pytest.mark.parametrize(("verb", "holds"), [("Ja, merken", True), ("Nein", False)])
def test_a_rule_that_waits_is_answered_in_place(
    workspace: None, anna: User, visit: Open, scripts: bool, verb: str, holds: bool
) -> None:
    page = visit("/regeln/", java_script_enabled=scripts)
    expect(page.locator(".tabs #waiting-rules")).to_contain_text("1")
    page.locator(".review").get_by_role("button", name=verb, exact=True).click()
    expect(page.locator(".review")).to_have_count(0)
    expect(rule(page, "Lass Tests vor jedem Commit laufen")).to_have_count(int(holds))
    expect(page.locator(".tabs #waiting-rules .badge")).to_have_count(0)
    assert ("Lass Tests vor jedem Commit laufen" in told(anna)) is holds


def test_it_shows_rules_of_one_domain_or_state(workspace: None, visit: Open) -> None:
    page = visit("/regeln/")
    page.get_by_role("link", name=re.compile(r"^general")).click()
    expect(page.locator(".rule")).to_have_count(1)
    page.get_by_role("link", name="abgeschaltet").click()
    expect(page.get_by_text("Keine Regel passt.")).to_be_visible()


# ── Into the chat ────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("language", "link", "begun"),
    [("de", "Einem Agenten eine Regel sagen", "Regel: "), ("en", "Tell an agent a rule", "Rule: ")],
)
def test_a_sentence_is_begun_in_the_chat(
    workspace: None, anna: User, visit: Open, scripts: bool, language: str, link: str, begun: str
) -> None:
    anna.language = language
    apart(lambda: anna.save(update_fields=["language"]))
    page = visit("/regeln/", java_script_enabled=scripts)
    page.get_by_role("link", name=link).click()
    field = page.locator("#composer-text")
    expect(field).to_have_value(begun)
    expect(field).to_be_focused()
    expect(page.locator(".said")).to_have_count(0)
    if scripts:
        page.keyboard.type("Answer in haiku")
        expect(field).to_have_value(f"{begun}Answer in haiku")


def test_a_link_into_the_chat_is_text_and_nothing_else(anna: User, visit: Open) -> None:
    hostile = "</textarea><script>document.title='x'</script>"
    page = visit(f"/?text={hostile}")
    expect(page.locator("#composer-text")).to_have_value(hostile)
    expect(page).not_to_have_title("x")
    expect(page.locator(".said")).to_have_count(0)


# ── Facts ────────────────────────────────────────────────────────────────────


def test_facts_are_narrowed(workspace: None, visit: Open, scripts: bool) -> None:
    page = visit("/gebiete/", java_script_enabled=scripts)
    expect(page.locator(".fact")).to_have_count(3)
    page.get_by_label("Wörter aus der Tatsache").fill("siche")
    if not scripts:
        page.get_by_role("button", name="Filtern").click()
    expect(page.locator(".fact")).to_have_count(1)
    page.get_by_label("Wörter aus der Tatsache").fill("")
    page.get_by_label("Repository").select_option("gedaechtnis")
    if not scripts:
        page.get_by_role("button", name="Filtern").click()
    expect(page.locator(".fact")).to_have_text([re.compile("Vor jeder Freigabe")])
    page.get_by_label("Wessen Wort").select_option("das von Agenten")
    if not scripts:
        page.get_by_role("button", name="Filtern").click()
    expect(page.get_by_text("Hier steht nichts, was passt.")).to_be_visible()
    page.get_by_role("link", name="Alles zeigen").click()
    page.get_by_role("link", name=re.compile("^operations")).click()
    expect(page.locator(".fact")).to_have_text([re.compile(BACKUP)])


def unfolded(page: Page, text: str, scripts: bool) -> Locator | Page:
    """Where the acts on a sentence stand."""
    row = page.locator("details.fact").filter(has_text=text)
    row.locator("summary").first.click()
    if scripts:
        expect(row.locator(".fact-actions")).to_be_visible()
        return row
    row.get_by_role("link", name="Verlauf, oder richtigstellen").click()
    return page


def test_a_fact_is_edited_and_the_old_one_stays_in_the_history(
    workspace: None, anna: User, visit: Open, scripts: bool
) -> None:
    page = visit("/gebiete/", java_script_enabled=scripts)
    acts = unfolded(page, BACKUP, scripts)
    acts.get_by_text("Korrigieren", exact=True).click()
    acts.locator("textarea[name=value]").fill("Die Sicherung läuft sonntags.")
    acts.get_by_role("button", name="So ist es richtig").click()
    expect(page.locator("#live")).to_contain_text("Korrigiert.")
    expect(page).to_have_url(re.compile("/gebiete/"))
    expect(page.locator("#statements")).to_contain_text("Die Sicherung läuft sonntags.")
    expect(page.locator("#statements")).not_to_contain_text(BACKUP)
    unfolded(page, "sonntags", scripts)
    expect(page.locator(".closed")).to_contain_text(BACKUP)


def test_a_fact_is_deleted_and_brought_back(workspace: None, visit: Open, scripts: bool) -> None:
    page = visit("/gebiete/", java_script_enabled=scripts)
    unfolded(page, BACKUP, scripts).get_by_role("button", name="Stimmt nicht", exact=True).click()
    expect(page.locator("#statements")).not_to_contain_text(BACKUP)
    page.locator("#live").get_by_role("button", name="Rückgängig").click()
    expect(page.locator("#statements")).to_contain_text(BACKUP)
    expect(page.locator("#live")).to_contain_text("Es ist wie vorher.")


def test_a_grant_is_narrowed_and_taken_back(workspace: None, anna: User, visit: Open, scripts: bool) -> None:
    def may() -> list[tuple[str, str, str]]:
        found = apart(lambda: grants.list_grants(principal=person(anna)))
        return [(one.domain, one.agent_role, str(one.permission)) for one in found]

    page = visit("/regeln/", java_script_enabled=scripts)
    page.locator(".drawer[aria-label=style]").get_by_role("link", name="Wer hier vorschlagen darf").click()
    page.get_by_label("Agenten der Rolle").fill("Builder!")
    page.get_by_label("lesen: ").check()
    page.get_by_role("button", name="So festlegen").click()
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_label("Agenten der Rolle")).to_have_value("Builder!")
    page.get_by_label("Agenten der Rolle").fill("builder")
    page.get_by_role("button", name="So festlegen").click()
    expect(page.locator("#grants .members li")).to_contain_text("builder")
    assert may() == [("style", "builder", "read")]
    page.get_by_role("button", name="Zurücknehmen, was für builder gesagt ist").click()
    expect(page.locator("#grants .members li")).to_have_count(0)
    assert may() == []


# ── Working memory ───────────────────────────────────────────────────────────


def note(anna: User, text: str) -> None:
    """The agent changes its notes."""

    def write() -> None:
        builder = agent(anna, "builder")
        pads.update(principal=builder, text=text, based_on_version=pads.read(principal=builder).version)

    apart(write)


def test_notes_are_changed(workspace: None, anna: User, visit: Open, scripts: bool) -> None:
    page = visit("/arbeitsgedaechtnis/", java_script_enabled=scripts)
    field = page.get_by_role("textbox", name="Notizen")
    expect(field).to_have_value(re.compile("Protokoll der Nacht"))
    for text in ("Erste Fassung", "Zweite Fassung"):
        field.fill(text)
        page.get_by_role("button", name="Speichern").click()
        expect(page.locator("#live")).to_contain_text("Gespeichert.")
        expect(page.locator("#pad-says")).to_contain_text(f"{len(text)} von 8000 Zeichen")
        assert apart(lambda: pads.read(principal=agent(anna, "builder"))).text == text
    if scripts:
        expect(page.get_by_role("button", name="Speichern")).to_be_focused()


def test_notes_that_the_agent_changed_meanwhile_are_not_overwritten(
    workspace: None, anna: User, visit: Open, scripts: bool
) -> None:
    page = visit("/arbeitsgedaechtnis/", java_script_enabled=scripts)
    field = page.get_by_role("textbox", name="Notizen")
    field.fill("Von mir.")
    if scripts:
        wait_until_told(page, anna)
    note(anna, "Vom Agenten.")
    if scripts:
        expect(page.locator("#pad-news")).to_contain_text("inzwischen geändert")
        expect(field).to_have_value("Von mir.")
    page.get_by_role("button", name="Speichern").click()
    expect(page.get_by_role("alert")).to_contain_text("Es gibt neuere Notizen")
    expect(page.locator(".present")).to_contain_text("Vom Agenten.")
    expect(field).to_have_value("Von mir.")
    assert apart(lambda: pads.read(principal=agent(anna, "builder"))).text == "Vom Agenten."
    page.get_by_role("button", name="Speichern").click()
    expect(page.locator("#live")).to_contain_text("Gespeichert.")
    assert apart(lambda: pads.read(principal=agent(anna, "builder"))).text == "Von mir."


def test_what_an_agent_wants_remembered_is_erased(workspace: None, anna: User, visit: Open, scripts: bool) -> None:
    page = visit("/arbeitsgedaechtnis/", java_script_enabled=scripts)
    row = page.locator(".kept li").filter(has_text="Valkey hört auf Port 6390.")
    row.get_by_text("Löschen", exact=True).click()
    row.get_by_role("button", name="Endgültig löschen").click()
    expect(page.locator("#live")).to_contain_text("Vergessen.")
    expect(row).to_have_count(0)
    assert apart(lambda: hot.list_hot(principal=person(anna), agent="builder")) == ()


# ── Contradictions ───────────────────────────────────────────────────────────

VERBS = {"new": "Das Neue gilt", "both": "Beides gilt", "old": "Das Alte bleibt"}
LEFT = {"new": {LATER}, "both": {BACKUP, LATER}, "old": {BACKUP}}


def say_instead_of_the_agent(me: Principal) -> None:
    (held,) = conflicts.list_conflicts(principal=me).waiting
    governance.reject_proposal(principal=me, proposal_id=held.id)
    say(me, LATER, "operations", topic="backup")


@pytest.mark.parametrize("keep", VERBS)
@pytest.mark.parametrize("who", ["agent", "person"])
def test_a_contradiction_is_settled(
    workspace: None, anna: User, visit: Open, scripts: bool, keep: str, who: str
) -> None:
    """An agent's statement waits; a person's stands beside the other."""
    if who == "person":
        apart(lambda: say_instead_of_the_agent(person(anna)))
    page = visit("/widersprueche/", java_script_enabled=scripts)
    card = page.locator(".contradiction").last
    expect(card.locator("mark")).to_have_text(["2", "3"])
    expect(card).to_contain_text("operations · backup")
    card.get_by_role("button", name=VERBS[keep]).click()
    expect(page.locator("#live")).to_contain_text("Entschieden:")
    expect(page.locator("#conflicts > .contradiction").get_by_role("button", name=VERBS[keep])).to_have_count(0)
    page.goto("/gebiete/?domain=operations")
    expect(page.locator(".fact .told")).to_have_count(len(LEFT[keep]))
    assert {text.strip() for text in page.locator(".fact .told").all_inner_texts()} == LEFT[keep]


def test_what_is_settled_in_the_chat_is_settled_in_every_window(workspace: None, anna: User, visit: Open) -> None:
    chat, page = visit("/"), visit("/widersprueche/")
    wait_until_told(page, anna)
    expect(page.locator("#waiting .badge")).to_have_text(re.compile("^2"))
    chat.locator(".review").get_by_role("button", name=VERBS["new"]).click()
    expect(page.get_by_text("Nichts widerspricht sich.")).to_be_visible()
    expect(page.locator("#waiting .badge")).to_have_text(re.compile("^1"))
    expect(page.locator("#waiting-conflicts .badge")).to_have_count(0)
    expect(chat.get_by_role("button", name=VERBS["new"])).to_have_count(0)
