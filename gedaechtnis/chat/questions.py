"""The questions the agent without a model understands, as tables: how each is asked and which facts answer it.

A form is matched against the whole question, without its question mark and small words. `S` is what it asks about.
A question that fits no form is answered with everything known about what it names.
"""

# ruff: noqa: E501 (a row of a table stays on one line)
from __future__ import annotations

import re
from dataclasses import dataclass

from gedaechtnis.registry import roles
from gedaechtnis.registry.roles import Role

_S = r"(?P<S>.+?)"
_LIVES = r"(?:wohn(?:e|t|st|en)|leb(?:e|t|en))"
TIES = ("married_to", "partner_of")


@dataclass(frozen=True, slots=True)
class Ask:
    """One kind of question. `inward`: what is named is the object ("who lives in Ulm?"); `former`: asks for what is over."""

    predicates: tuple[str, ...]
    forms: tuple[str, ...]
    inward: bool = False
    former: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """A question understood: `about` is the name, role ("my wife") or pronoun it asks about; `ask` None = everything.

    `identifies`: it asks who somebody is ("who is my wife?").
    """

    about: str
    ask: Ask | None = None
    identifies: bool = False


ASKS = (
    Ask(("lives_in",), (
        rf"wo (?:hat|habe|haben) {_S} (?:früher|vorher|zuvor|davor)(?: \w+)? (?:gewohnt|gelebt)", rf"wo (?:wohnte|lebte)n? {_S}(?: früher| vorher)?",
        rf"where did {_S} (?:live|use to live)(?: before)?", rf"where has {_S} lived before",
    ), former=True),
    Ask(("works_at",), (
        rf"wo (?:hat|habe|haben) {_S} (?:früher|vorher|zuvor|davor) gearbeitet", rf"wo arbeiteten? {_S}(?: früher| vorher)?",
        rf"where did {_S} (?:work|use to work)(?: before)?", rf"where has {_S} worked before",
    ), former=True),
    Ask(("lives_in",), (rf"wer {_LIVES} (?:\w+ )?(?:in|im|in der) {_S}", rf"who (?:lives|is living) in {_S}"), inward=True),
    Ask(("works_at",), (rf"wer arbeitet (?:\w+ )?(?:bei|beim|bei der|am|im|für) {_S}", rf"who works (?:at|for) {_S}"), inward=True),
    Ask(("lives_in", "address"), (rf"(?:seit wann|wo) {_LIVES} {_S}(?: (?:in|im) .+)?", rf"(?:where|since when) (?:do|does) {_S} live(?: in .+)?", rf"how long has {_S} lived .+")),
    Ask(("works_at",), (rf"(?:seit wann|wo|bei wem|für wen) arbeite(?:n|t)? {_S}(?: (?:bei|am|im) .+)?", rf"(?:where|since when) (?:do|does) {_S} work(?: at .+)?", rf"who (?:do|does) {_S} work for")),
    Ask(("job_title",), (rf"was (?:ist|bin|macht|mache) {_S} (?:von beruf|beruflich)", rf"als was arbeite(?:n|t)? {_S}", rf"welchen beruf (?:hat|habe) {_S}", rf"what (?:do|does) {_S} do(?: for a living)?", rf"what is {_S} job")),
    Ask(("born_on",), (rf"wann (?:hat|habe|haben) {_S} geburtstag", rf"wann (?:ist|wurde|bin) {_S} geboren", rf"wann ist {_S} geburtstag", rf"when is {_S} birthday", rf"when was {_S} born", rf"when (?:do|does) {_S} have (?:his|her|their|a|my) birthday")),
    Ask(("age", "born_on"), (rf"wie alt (?:ist|sind|bin|wird|werde) {_S}", rf"how old (?:is|are|am) {_S}")),
    Ask(("allergic_to",), (rf"(?:wogegen|worauf|gegen was) (?:ist|sind|bin) {_S} allergisch", rf"(?:was|welche) (?:für )?allergien? (?:hat|habe|haben) {_S}", rf"was (?:verträgt|vertrage) {_S} nicht", rf"ist {_S} (?:gegen (?:etwas|irgendwas) )?allergisch", rf"what (?:is|are|am) {_S} allergic to", rf"(?:what|which) allergies (?:does|do) {_S} have", rf"does {_S} have (?:any )?allergies")),
    Ask(("feeding_time_morning", "feeding_time_evening"), (rf"(?:wann|um wie viel uhr) (?:bekommt|bekommen|kriegt|frisst|fressen) {_S}(?: (?:sein|ihr))?(?: (?:\w*futter|fressen|essen))?", rf"wann (?:wird|werden) {_S} gefüttert", rf"when (?:does|do) {_S} (?:get|eat)(?: (?:fed|(?:(?:his|her|its|their) )?(?:food|dinner)))?", rf"when (?:is|are) {_S} fed")),
    Ask(("likes", "favourite", "prefers", "interest", "dislikes", "eats", "drinks"), (rf"was (?:mag|mögen|liebt|isst|esse|trinkt|trinke) {_S}(?: (?:gern|gerne|nicht|am liebsten|besonders))*", rf"wofür interessier(?:t|e) {_S} (?:sich|mich)", rf"what (?:does|do) {_S} (?:not )?(?:like|love|eat|drink|prefer)(?: (?:most|best))?")),
    Ask(("owned_by",), (rf"wem (?:gehört|gehören) {_S}", rf"who owns {_S}", rf"(?:who|whom) does {_S} belong to")),
    Ask(TIES, (rf"mit wem (?:ist|bin) {_S} (?:verheiratet|zusammen)", rf"who (?:is|am) {_S} (?:married to|with)")),
    Ask(("phone",), (rf"(?:wie|was) (?:ist|lautet) (?:die )?{_S} (?:telefonnummer|handynummer|nummer)", rf"welche (?:telefonnummer|handynummer|nummer) (?:hat|habe) {_S}", rf"what is {_S} (?:phone |mobile )?number")),
    Ask(("email",), (rf"(?:wie|was) (?:ist|lautet) (?:die )?{_S} (?:e-?mail(?:-?adresse)?|mailadresse)", rf"what is {_S} e-?mail(?: address)?")),
    Ask(("address",), (rf"(?:wie|was) (?:ist|lautet) (?:die )?{_S} (?:adresse|anschrift)", rf"what is {_S} address")),
)  # fmt: skip

_EVERYTHING = (
    rf"was (?:weißt|weisst) du (?:alles )?(?:über|von) {_S}", rf"was wissen wir über {_S}", rf"erzähl mir (?:etwas )?(?:über|von) {_S}",
    rf"what do you know about {_S}", rf"tell me about {_S}",
)  # fmt: skip
_IDENTITY = (
    rf"wie (?:heißt|heißen|heiße) {_S}", rf"(?:wer|was) (?:ist|sind|bin) {_S}", rf"what (?:is|are) {_S} names?", rf"(?:who|what) (?:is|are|am) {_S}",
)  # fmt: skip

_SMALL = re.compile(
    r"\b(?:denn|eigentlich|nochmal|noch mal|gerade|jetzt|genau|bitte|again|exactly|currently|now|please)\b ?"
)
_CONTRACTED = re.compile(r"\b(who|what|where|when)['’]s\b", re.IGNORECASE)
_TO_THE_AGENT = re.compile(r"\b(?:du|dir|dich|dein\w*|you|your|yourself)\b")
_ASKED = re.compile(
    r"\?\s*$|^\s*(?:was|wer|wo|wann|wie|warum|welche\w*|wem|wen|wogegen|seit wann|what|who|where|when|how|why|which)\b(?!\s+(?:gesagt|ich|schön|said)\b)",
    re.IGNORECASE,
)

SELF = re.compile(r"ich|mich|mir|wir|uns|i|me|we|us|meine?[nmrs]?|my", re.IGNORECASE)
"""Whoever asks; also "my" where a form takes the possession off ("my birthday")."""


_OWN_NAME = frozenset({"mama", "papa", "mum", "mom", "dad"})
"""Who is called so without a "my" before it."""


def is_question(text: str) -> bool:
    """Whether a message asks for something rather than telling it."""
    return _ASKED.search(text) is not None


def read(text: str) -> Question | None:
    """What a question asks about, where its form is known."""
    asked = _CONTRACTED.sub(r"\1 is", text.strip(" ?!.…\n"), count=1)
    asked = " ".join(_SMALL.sub(" ", asked).split())
    for ask in ASKS:
        for form in ask.forms:
            if match := re.fullmatch(form, asked, re.IGNORECASE):
                return Question(match["S"], ask)
    for forms, identifies in ((_EVERYTHING, False), (_IDENTITY, True)):
        for form in forms:
            if match := re.fullmatch(form, asked, re.IGNORECASE):
                return Question(match["S"], identifies=identifies)
    return None


def is_about_the_agent(text: str) -> bool:
    """Whether it is small talk with the agent: "how are you?"."""
    return _TO_THE_AGENT.search(text.lower()) is not None


def role_of(about: str) -> Role | None:
    """The role in "my wife", "meinen Hund", "Mama"; None where the graph would know less than the word says."""
    noun = re.fullmatch(r"(?:(?:meine?[nmrs]?|unsere?[nmrs]?|my|our) )?(?P<noun>\w+?)(?:['’]s|s)?", about.lower())
    if noun is None or (" " not in about and noun["noun"] not in _OWN_NAME):
        return None
    role = roles.called(noun["noun"])
    return role if role is not None and not role.is_vague else None
