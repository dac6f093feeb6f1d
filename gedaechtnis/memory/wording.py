"""Values and beliefs in plain words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from gedaechtnis.common import canonical, moments
from gedaechtnis.common.text import fold_space, one_line
from gedaechtnis.memory.answers import FactView

_TAG = re.compile(r"<(?=[\w/!|<?])|(?<=[\w/|>\"'-])>")
_ROLE = re.compile(r"\b(system|assistant|user|developer|tool|human|instructions?)(\s*):", re.IGNORECASE)
_OPENING = re.compile(r"[<>`~\[#]")
"""Without any of these there is neither a mark nor a tag."""
_MARKS = re.compile(r"`{3,}|~{3,}|\[/?INST\]|^#+(?=\s)", re.IGNORECASE)


def inert(text: str) -> str:
    """What others wrote, in one line, without anything that could open, close or head a part of a prompt."""
    line = one_line(text)
    if _OPENING.search(line):
        line = _MARKS.sub(lambda match: match.group().replace("`", "'").replace("~", "-").strip("[]#"), line)
        line = _TAG.sub(lambda match: "‹" if match.group() == "<" else "›", line)
    return _ROLE.sub(r"\1\2∶", line) if ":" in line else line


def readable(value: Any) -> str:
    """A literal as plain text in the reader's language."""
    if isinstance(value, str):
        return fold_space(value)
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, int | float):
        return f"{value:g}" if isinstance(value, float) else str(value)
    return canonical.canonical(value)


_SENTENCES: Mapping[str, object] = {
    "age": gettext_lazy("%(who)s is %(what)s years old"),
    "allergic_to": gettext_lazy("%(who)s is allergic to %(what)s"),
    "born_on": gettext_lazy("%(who)s was born on %(what)s"),
    "drinks": gettext_lazy("%(who)s drinks %(what)s"),
    "eats": gettext_lazy("%(who)s eats %(what)s"),
    "favourite": gettext_lazy("%(who)s likes %(what)s best"),
    "feeding_time_evening": gettext_lazy("%(who)s is fed at %(what)s in the evening"),
    "feeding_time_morning": gettext_lazy("%(who)s is fed at %(what)s in the morning"),
    "interest": gettext_lazy("%(who)s is interested in %(what)s"),
    "job_title": gettext_lazy("%(who)s works as %(what)s"),
    "likes": gettext_lazy("%(who)s likes %(what)s"),
    "prefers": gettext_lazy("%(who)s prefers %(what)s"),
    "speaks": gettext_lazy("%(who)s speaks %(what)s"),
    "species": gettext_lazy("%(who)s: %(what)s"),
}
_DENIALS: Mapping[str, object] = {
    "allergic_to": gettext_lazy("%(who)s is not allergic to %(what)s"),
    "drinks": gettext_lazy("%(who)s does not drink %(what)s"),
    "eats": gettext_lazy("%(who)s does not eat %(what)s"),
    "likes": gettext_lazy("%(who)s does not like %(what)s"),
    "speaks": gettext_lazy("%(who)s does not speak %(what)s"),
}


def sentence(*, subject: str, predicate: str, label: str, what: str, polarity: bool, is_relation: bool) -> str:
    """A belief as one sentence, without its full stop; where nobody worded the predicate, its label says it."""
    names = {"who": subject, "what": moments.calendar(what)}
    if predicate == "born_on" and what.startswith("-"):
        return _("%(who)s has a birthday on %(what)s") % names
    worded = (_SENTENCES if polarity else _DENIALS).get(predicate)
    if worded is not None:
        return str(worded) % names
    said = names["what"] if polarity else _("not %(object)s") % {"object": names["what"]}
    return f"{subject}{' ' if is_relation else ': '}{label} {said}"


def period(fact: FactView) -> str:
    """When a belief holds, as far as somebody said so: `since March 2026`; "" where nobody did."""
    started = fact.valid_from if fact.valid_from_stated else None
    return moments.period(started, fact.valid_from_precision, fact.valid_to, fact.valid_to_precision)


_WHY = {
    "inference": gettext_lazy("An agent concluded this; nobody said it."),
    "derived": gettext_lazy("It follows from what was said, but was not said like this."),
    "privileged": gettext_lazy("Rules and permissions always need your word."),
    "conflict": gettext_lazy("It contradicts what you said."),
    "contradiction": gettext_lazy("It is nearly the same as what is believed, and contradicts it."),
    "ambiguous": gettext_lazy("Several bear this name."),
    "alike": gettext_lazy("Their names are nearly the same."),
    "shared": gettext_lazy("They share an address or a number."),
    "review": gettext_lazy("I am not sure that I understood this rightly."),
}


def why_in_words(code: str) -> str:
    """Why an operation waits for a person, as one sentence."""
    return str(_WHY.get(code, code))
