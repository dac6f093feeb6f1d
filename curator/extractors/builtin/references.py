"""Words that point back: "no, at 6 pm", "from tomorrow at 8", "not Ulm but Cologne", "forget that"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from curator.extractors.builtin import clock, phrases
from curator.extractors.builtin.clauses import Clause
from curator.extractors.builtin.discourse import Assertion, Discourse, Unresolved, same_value
from curator.extractors.builtin.grammar import Language, Rule
from curator.extractors.builtin.speaker import Speaker
from curator.window import KnownFact, WindowMessage
from gedaechtnis.common import dates
from gedaechtnis.memory.schemas import AssertFact, AssertRelationship, Evidence, InvalidateFact

_TIME = re.compile(r"\d\d:\d\d")
_SMALL = re.compile(
    r"\b(?:um|gegen|at|erst|immer|futter|food|dinner|es|it is|it's|gibt|gibt's|stattdessen|instead|dann|then|uhr|"
    r"sondern|but|and|und|bekommt sie|sie|she)\b",
    re.IGNORECASE,
)
_PREPOSITION = re.compile(r"(?:(?P<place>in|nach|to)|bei|at|mit|with|für|for)\s+", re.IGNORECASE)
_AGAIN = Rule("reference", "", ())

Target = tuple[str, str, Any, str | None]
"""What is meant: subject, predicate, value, object reference."""


def fragment(clause: Clause, discourse: Discourse) -> Speaker | None:
    """A clause without a verb that corrects or changes something said or known before; None if it is none."""
    speaker = Speaker(clause, _AGAIN, discourse)
    bounds = dates.bounds(clause.phrases)
    starts = any(phrase.role == "from" for phrase in clause.phrases) and bounds.valid_from is not None
    if not (clause.correction or starts) or clause.negated != "no":
        return None
    rest = _SMALL.sub(" ", clause.bare).strip(" ,.")
    old_clocks = clause.old.clocks if clause.old else ()
    if clause.clocks and not rest:
        _again_at(speaker, _time_target(clause, old_clocks, discourse))
    elif not rest and clause.correction and starts:
        _again_since(speaker, bounds)
    elif rest and clause.correction:
        _again_with(speaker, clause.bare)
    return speaker if speaker.said else None


def taken_back(old: Speaker, new: Speaker, discourse: Discourse) -> None:
    """Let the new assertions replace what is known of the old ones; retract what they do not replace."""
    for said in old.said:
        if not isinstance(said, AssertFact | AssertRelationship):
            continue
        known = discourse.known_equal(said.subject_ref, said.predicate, *_object(said))
        if known is None:
            continue
        same = [
            index
            for index, operation in enumerate(new.said)
            if isinstance(operation, AssertFact | AssertRelationship)
            and (operation.subject_ref, operation.predicate) == (said.subject_ref, said.predicate)
        ]
        if same:
            new.said[same[0]] = new.said[same[0]].model_copy(update={"replaces_fact_id": known.id})
        else:
            new.retract(known.id)


def forgotten(
    rest: str, meant: Speaker | None, language: Language, discourse: Discourse, message: WindowMessage, evidence: str
) -> Iterator[InvalidateFact]:
    """The known facts that a request to forget names; what was only just said is withdrawn instead."""
    facts: list[KnownFact] = []
    if re.fullmatch(language.forget_last, rest, re.IGNORECASE):
        facts = _last(discourse)
    elif meant is not None:
        for said in meant.said:
            if isinstance(said, AssertFact | AssertRelationship):
                facts += _withdrawn(said, discourse)
    else:
        facts = _asked_about(rest, language, discourse)
    for fact in facts:
        yield InvalidateFact(
            target_fact_id=fact.id,
            mode="retract",
            reason=evidence[:2000],
            evidence=Evidence(text=evidence[:8000], ref=f"msg:{message.id}"),
        )


def _again_at(speaker: Speaker, target: tuple[Target, bool] | None) -> None:
    if target is None:
        return
    (subject, predicate, believed, _), explicit = target
    value = speaker.clause.clocks[0].value
    if not explicit and str(believed) >= "12:00" > value:
        value = f"{int(value[:2]) + 12:02d}{value[2:]}"
    speaker.say(subject, predicate, value)


def _again_since(speaker: Speaker, bounds: dates.Bounds) -> None:
    said = speaker.discourse.assertions()
    if said and bounds.valid_from is not None:
        last = said[-1][1]
        value, object_ref = _object(last)
        speaker.state(
            last.subject_ref, last.predicate, value, object_ref, valid_from=bounds.valid_from.text, correction=True
        )


def _again_with(speaker: Speaker, text: str) -> None:
    """As in "No, in Cologne", "not Ulm but Cologne": the same statement with another object."""
    preposition = _PREPOSITION.match(text)
    place_only = preposition is not None and preposition["place"] is not None
    spoken = text[preposition.end() :] if preposition else text
    old = speaker.clause.old
    old_text = _PREPOSITION.sub("", old.bare, count=1) if old else None
    for subject, predicate, value, object_ref in _targets(speaker.discourse, with_known=old is not None):
        label = speaker.discourse.label(object_ref) if object_ref else str(value)
        if old_text is not None and not same_value(label, old_text):
            continue
        if (
            _replace_object(speaker, (subject, predicate, value, object_ref), spoken, place_only=place_only)
            or old is None
        ):
            return


def _replace_object(speaker: Speaker, target: Target, spoken: str, *, place_only: bool) -> bool:
    subject, predicate, value, object_ref = target
    known = speaker.discourse.known_equal(subject, predicate, value, object_ref)
    replaced = {"replaces_fact_id": known.id} if known is not None else {}
    if object_ref is None:
        new = _like(value, spoken)
        if new is None or place_only:
            return False
        speaker.say(subject, predicate, new, **replaced)
        return True
    thing = speaker.discourse.thing(object_ref)
    name = phrases.named(spoken, speaker.clause.language)
    if thing is None or name is None or (place_only and thing.kind != "place"):
        return False
    try:
        ref = speaker.discourse.by_name(name.name, thing.kind, strict=True)
    except Unresolved:
        return False
    speaker.say(subject, predicate, object_ref=ref, **replaced)
    return True


def _like(value: Any, spoken: str) -> Any:
    """The spoken words as a value of the same sort, or None."""
    if isinstance(value, int) and not isinstance(value, bool):
        return int(spoken) if re.fullmatch(r"\d{1,6}", spoken) else None
    fits = isinstance(value, str) and not _TIME.fullmatch(value) and len(spoken.split()) <= 3
    return spoken if fits and phrases.has_letters(spoken) else None


def _time_target(clause: Clause, old: tuple[clock.Clock, ...], discourse: Discourse) -> tuple[Target, bool] | None:
    """Which time is meant: the one taken back by name, else the last said, else the only one or last learned."""
    part = clock.day_part(clause.said, clause.language.code)
    candidates = [target for target in _targets(discourse, with_known=True) if _is_time(target)]
    if old:
        exact = [target for target in candidates if target[2] == old[0].value]
        half_day = [
            target
            for target in candidates
            if str(target[2])[3:] == old[0].value[3:] and (int(str(target[2])[:2]) - int(old[0].value[:2])) % 12 == 0
        ]
        candidates = exact or half_day or candidates
    if part:
        candidates = [target for target in candidates if target[1].endswith(part)] or candidates
    if not candidates:
        return None
    said = [target for target in _targets(discourse, with_known=False) if _is_time(target) and target in candidates]
    if said:
        return said[0], part is not None
    if discourse.focus is not None:
        candidates = [target for target in candidates if target[0] == discourse.focus] or candidates
    if len({target[:2] for target in candidates}) == 1:
        return candidates[0], part is not None
    learned = discourse.last_learned_of([target[:2] for target in candidates])
    if learned is not None:
        return next(target for target in candidates if target[:2] == learned), part is not None
    near = [target for target in candidates if (str(target[2]) < "12:00") == (clause.clocks[0].value < "12:00")]
    return (near[0], part is not None) if len({target[:2] for target in near}) == 1 else None


def _is_time(target: Target) -> bool:
    return isinstance(target[2], str) and _TIME.fullmatch(target[2]) is not None


def _targets(discourse: Discourse, *, with_known: bool) -> list[Target]:
    """What a fragment may refer to: the last said first, then what is known."""
    said = [(item.subject_ref, item.predicate, *_object(item)) for _, item in reversed(discourse.assertions())]
    known = [
        (entity.ref, fact.predicate, fact.value, fact.object_ref)
        for entity in discourse.window.known
        for fact in entity.facts
    ]
    return said + (known if with_known else [])


def _object(said: Assertion) -> tuple[Any, str | None]:
    return (None, said.object_ref) if isinstance(said, AssertRelationship) else (said.object_value, None)


def _last(discourse: Discourse) -> list[KnownFact]:
    """The facts of the last turn that stated something; else the fact learned last."""
    said = discourse.assertions()
    if not said:
        learned = discourse.last_learned()
        return [learned[1]] if learned else []
    turn = said[-1][0].turn
    facts: list[KnownFact] = []
    for utterance, assertion in said:
        if utterance.turn == turn:
            facts += _withdrawn(assertion, discourse)
    return facts


def _withdrawn(said: Assertion, discourse: Discourse) -> list[KnownFact]:
    for utterance, earlier in discourse.assertions():
        same = (earlier.subject_ref, earlier.predicate, *_object(earlier)) == (
            said.subject_ref,
            said.predicate,
            *_object(said),
        )
        utterance.emitted = utterance.emitted and not same
    value, object_ref = _object(said)
    if said.polarity:
        known = discourse.known_equal(said.subject_ref, said.predicate, value, object_ref)
        return [known] if known else []
    return [
        fact
        for fact in discourse.known_facts(said.subject_ref, said.predicate)
        if not fact.polarity and (fact.object_ref == object_ref if object_ref else same_value(fact.value, value))
    ]


def _asked_about(rest: str, language: Language, discourse: Discourse) -> list[KnownFact]:
    """As in "forget Anna's number", "forget where Anna lives": all known facts of that subject and kind."""
    for whose, predicates in _attribute_of(rest, language):
        try:
            known_things = len(discourse.things)
            mention = phrases.possessor(whose, language) or phrases.parse_one(whose, language)
            ref = discourse.resolve(mention, "person") if mention else None
        except Unresolved:
            ref = None
        finally:
            del discourse.things[known_things:]
        if ref is not None:
            return [fact for fact in discourse.known_facts(ref) if fact.predicate in predicates.split()]
    return []


def _attribute_of(rest: str, language: Language) -> Iterator[tuple[str, str]]:
    for pattern, predicates in language.enquiries:
        if match := re.fullmatch(pattern, rest, re.IGNORECASE):
            yield match["S"], predicates
    for noun, predicate in language.attributes.items():
        if match := re.fullmatch(rf"(?P<whose>\S+) (?:{noun})", rest, re.IGNORECASE):
            yield match["whose"], predicate
        if match := re.fullmatch(
            rf"(?:die |das |den |the )?(?:{noun}) (?:{language.role_of}) (?P<whose>.+)", rest, re.IGNORECASE
        ):
            yield match["whose"], predicate
