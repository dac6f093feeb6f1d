"""Facts as sentences in the reader's language, for the agent that answers without a model."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from gedaechtnis.common import moments
from gedaechtnis.memory.answers import FactView

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


def sentence(fact: FactView, *, dated: bool = False) -> str:
    """One sentence without its full stop; `dated` adds when it holds, as far as somebody said so."""
    said = _sentence(fact)
    when = _period(fact) if dated else ""
    return f"{said} ({when})" if when else said


def _sentence(fact: FactView) -> str:
    what = moments.calendar(fact.object.label)
    names = {"who": fact.subject_label, "what": what}
    if fact.predicate == "born_on" and str(fact.object.value).startswith("-"):
        return _("%(who)s has a birthday on %(what)s") % names
    worded = (_SENTENCES if fact.polarity else _DENIALS).get(fact.predicate)
    if worded is not None:
        return str(worded) % names
    if not fact.polarity:
        what = _("not %(object)s") % {"object": what}
    is_relation = fact.object.kind == "entity"
    return f"{fact.subject_label}{' ' if is_relation else ': '}{fact.predicate_label} {what}"


def _period(fact: FactView) -> str:
    started = fact.valid_from if fact.valid_from_stated else None
    return moments.period(started, fact.valid_from_precision, fact.valid_to, fact.valid_to_precision)
