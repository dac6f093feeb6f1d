"""What a matched rule says: one small builder per shape of statement. They raise Unresolved where it does not fit."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from curator.extractors.builtin import clock, lexicon, phrases, values
from curator.extractors.builtin.clauses import decision
from curator.extractors.builtin.discourse import Unresolved
from curator.extractors.builtin.phrases import Named, Pronoun, Related, Self
from curator.extractors.builtin.speaker import UNKNOWN, Speaker
from gedaechtnis.common import dates
from gedaechtnis.common.stopwords import ENGLISH, GERMAN
from gedaechtnis.common.text import name_key
from gedaechtnis.knowledge.domains import DECISIONS, DomainKey
from gedaechtnis.knowledge.facts import statement_operations
from gedaechtnis.memory.schemas import AddAlias

Groups = dict[str, str]


def identify(speaker: Speaker, groups: Groups) -> None:
    """As in "Luna is my cat", "Anna is Ben's sister", "my sister is Anna", "this is my cat Luna"."""
    language = speaker.clause.language
    if re.fullmatch(r"das|dies|hier|this|that|here", groups["S"], re.IGNORECASE):
        introduced = speaker.mentions(groups["O"])
        if not all(isinstance(mention, Related) and mention.name and mention.owner for mention in introduced):
            raise Unresolved("pointing at nothing")
        speaker.refs(groups["O"], "person")
        return
    target = phrases.parse_one(groups["O"], language)
    if isinstance(target, Named):
        first = phrases.parse_one(groups["S"], language)
        if not isinstance(first, Related) or first.name is not None or first.owner is None:
            raise Unresolved("two names")
        _identify_as(speaker, (target,), first)
        return
    if not isinstance(target, Related) or target.name is not None:
        raise Unresolved("no role")
    _identify_as(speaker, _identified(speaker, groups["S"]), target)


def _identified(speaker: Speaker, text: str) -> tuple[phrases.Mention, ...]:
    """Who is identified. Here a name may be typed in small letters: the role says that it is one."""
    alone = re.fullmatch(r"[^\W\d_]{2,}", text) and text.islower()
    if alone and phrases.parse_one(text, speaker.clause.language) is None:
        return speaker.mentions(text.capitalize())
    return speaker.mentions(text)


def _identify_as(speaker: Speaker, named: tuple[phrases.Mention, ...], target: Related) -> None:
    role = target.role
    if target.owner is None and role.species is None:
        raise Unresolved("nobody's")
    owner = None if target.owner is None else speaker.ref(target.owner, "person")
    for mention in named:
        if isinstance(mention, Named):
            ref = speaker.discourse.by_name(mention.name, role.kind, strict=True)
        else:
            ref = speaker.ref(mention, role.kind)
        if owner is not None:
            speaker.relate_role(role, ref, owner)
        elif speaker.clause.negated == "no" and role.kind == "pet":
            speaker.say(ref, "species", role.species)


def name(speaker: Speaker, groups: Groups) -> None:
    """As in "My cat is called Luna", "I am called Mira", "she is called Luna" after "I have a cat"."""
    subject = groups["S"]
    if re.fullmatch(r"mein|my", subject, re.IGNORECASE):
        mention: phrases.Mention | None = Self()
    else:
        mention = phrases.parse_one(subject, speaker.clause.language)
    names = speaker.mentions(groups["O"])
    if not all(isinstance(found, Named) for found in names) or mention is None:
        raise Unresolved("no name")
    if isinstance(mention, Pronoun) and speaker.discourse.unnamed is not None:
        role, owner = speaker.discourse.unnamed
        for found in names:
            speaker.relate_role(role, speaker.discourse.by_name(_name(found), role.kind, strict=True), owner)
        speaker.discourse.unnamed = None
    elif isinstance(mention, Related) and mention.name is None and mention.owner is not None:
        _identify_as(speaker, names, mention)
    elif len(names) == 1 and not isinstance(mention, Pronoun):
        ref = speaker.ref(mention, "person")
        if not isinstance(mention, Self) and ref not in speaker.discourse.window.by_ref:
            raise Unresolved("a stranger is renamed")
        speaker.say(ref, "name", _name(names[0]))
    else:
        raise Unresolved("who?")


def identify_owned(speaker: Speaker, groups: Groups) -> None:
    """As in "I have a cat named Luna"."""
    target = phrases.parse_one(groups["O"], speaker.clause.language)
    if not isinstance(target, Related) or target.owner is not None:
        raise Unresolved("no role")
    for owner in speaker.refs(groups["S"], "person"):
        for found in speaker.mentions(groups["N"]):
            ref = speaker.discourse.by_name(_name(found), target.role.kind, strict=True)
            speaker.relate_role(target.role, ref, owner)


def introduce(speaker: Speaker, groups: Groups) -> None:
    """As in "I have a cat": nothing to write on a name tag yet, but the next "she is called …" means it."""
    target = phrases.parse_one(groups["O"], speaker.clause.language)
    if not isinstance(target, Related) or target.owner is not None:
        raise Unresolved("no role")
    (owner,) = speaker.refs(groups["S"], "person")[:1]
    speaker.discourse.unnamed = (target.role, owner)


def alias(speaker: Speaker, groups: Groups) -> None:
    """As in "Anna is also called Anni"."""
    (found,) = speaker.mentions(groups["O"])[:1]
    for ref in speaker.refs(groups["S"], "person"):
        thing = speaker.discourse.thing(ref)
        if thing is None or name_key(_name(found)) in thing.keys:
            raise Unresolved("nothing new")
        speaker.said.append(AddAlias(entity_ref=ref, alias=_name(found), evidence=speaker.evidence))


def feed(speaker: Speaker, groups: Groups) -> None:
    """As in "Luna gets food at 7 pm": one fact for each time, by the part of the day."""
    clause = speaker.clause
    rest = lexicon.SMALL.sub(" ", lexicon.FOOD.sub(" ", groups.get("T", ""))).strip()
    if not clause.clocks or rest or not lexicon.FED.search(clause.said):
        raise Unresolved("no feeding")
    subject = groups.get("S", "").strip(" ,:")
    refs = speaker.refs(subject, "pet") if subject else [speaker.ref(Pronoun(), "pet")]
    for ref in refs:
        thing = speaker.discourse.thing(ref)
        if thing is not None and thing.kind != "pet":
            raise Unresolved("people are not fed")
        for time in clause.clocks:
            value = _corrected_half(speaker, ref, time.value)
            speaker.say(ref, f"feeding_time_{'morning' if value < '12:00' else 'evening'}", value)


def _corrected_half(speaker: Speaker, ref: str, value: str) -> str:
    """As in "no, at 7": said of a pet only known to be fed in the evening it means 19:00."""
    clause = speaker.clause
    known = {
        fact.predicate for fact in speaker.discourse.known_facts(ref) if fact.predicate.startswith("feeding_time_")
    }
    if not clause.correction or known != {"feeding_time_evening"} or value >= "12:00":
        return value
    return value if clock.day_part(clause.said, clause.language.code) else f"{int(value[:2]) + 12:02d}{value[2:]}"


def relate(speaker: Speaker, groups: Groups) -> None:
    """Subject – predicate – named object, for every subject and every object."""
    rule = speaker.rule
    objects = speaker.refs(values.cut(groups["O"]), rule.object_kind or "person")
    for subject in speaker.refs(groups["S"], rule.subject_kind):
        for ref in objects:
            speaker.say(subject, rule.predicate, object_ref=ref)
        if former := groups.get("from"):
            _end_known(speaker, subject, (rule.predicate,), speaker.refs(former, rule.object_kind or "person")[0])


def leave(speaker: Speaker, groups: Groups) -> None:
    """As in "Anna has left Siemens", "Ben broke up with Mia": the known fact ends."""
    predicates = tuple(speaker.rule.predicate.split())
    (other,) = speaker.refs(values.cut(groups["O"]), speaker.rule.object_kind or "person")[:1]
    for subject in speaker.refs(groups["S"], speaker.rule.subject_kind):
        if not _end_known(speaker, subject, predicates, other):
            bounds = dates.bounds(speaker.clause.phrases, speaker.rule.lean)
            over = bounds.valid_from.text if bounds.valid_from else speaker.sent_at
            speaker.state(subject, predicates[0], object_ref=other, valid_from=UNKNOWN, valid_to=over)


def _end_known(speaker: Speaker, subject: str, predicates: tuple[str, ...], other: str) -> bool:
    bounds = dates.bounds(speaker.clause.phrases, speaker.rule.lean)
    for predicate in predicates:
        if known := speaker.discourse.known_equal(subject, predicate, None, other):
            speaker.end(known.id, bounds.valid_from.text if bounds.valid_from else None)
            return True
    return False


def mutual(speaker: Speaker, groups: Groups) -> None:
    """As in "Anna and I are married": between the first and each of the others, once."""
    refs = speaker.refs(groups["S"], "person")
    if len(refs) < 2:
        raise Unresolved("it takes two")
    for index, one in enumerate(refs):
        for other in refs[index + 1 :]:
            speaker.say(one, speaker.rule.predicate, object_ref=other)


def describe(speaker: Speaker, groups: Groups) -> None:
    """Subject – predicate – literal, for every part of "tea and coffee"."""
    rule, clause = speaker.rule, speaker.clause
    subjects = speaker.owners(groups)
    if not rule.lasting and clause.negated == "no":
        habitual = lexicon.HABIT.search(clause.said) is not None
        if (
            (clause.momentary or speaker.discourse.self_ref in subjects)
            and not habitual
            and not values.is_diet(groups["O"])
        ):
            raise Unresolved("perhaps only now")
    for value in values.literals(groups["O"], speaker, pointing=rule.predicate == "decision"):
        for subject in subjects:
            speaker.say(subject, rule.predicate, values.diet(value, clause.language.code))


def favourite(speaker: Speaker, groups: Groups) -> None:
    """As in "My favourite tea is rooibos": the value, with what it is a favourite of as topic."""
    topic = groups["topic"].strip()
    for subject in speaker.owners(groups):
        for value in values.literals(groups["O"], speaker):
            speaker.say(
                subject,
                "favourite",
                value,
                topic=topic[:1].upper() + topic[1:]
                if topic.islower() and speaker.clause.language.code == "de"
                else topic,
            )


def language(speaker: Speaker, groups: Groups) -> None:
    """As in "Anna speaks German and French"."""
    spoken = values.literals(groups["O"], speaker)
    if not all(lexicon.LANGUAGES.fullmatch(value) for value in spoken):
        raise Unresolved("not a language")
    for subject in speaker.refs(groups["S"], "person"):
        for value in spoken:
            speaker.say(subject, "speaks", value)


def count(speaker: Speaker, groups: Groups) -> None:
    """As in "Anna is 28": a whole number that fits a person."""
    number = values.number(groups["O"], speaker.clause.language.code)
    if not 0 < number < 125:
        raise Unresolved("too many")
    for subject in speaker.refs(groups["S"], "person"):
        speaker.say(subject, speaker.rule.predicate, number)


def profession(speaker: Speaker, groups: Groups) -> None:
    """As in "Sabine is a teacher": only words known to be professions."""
    if not lexicon.PROFESSIONS.fullmatch(groups["O"]):
        raise Unresolved("no profession")
    for subject in speaker.refs(groups["S"], "person"):
        speaker.say(subject, "job_title", groups["O"])


def intolerance(speaker: Speaker, groups: Groups) -> None:
    """As in "ich vertrage keine Milch": the negation is the statement."""
    if speaker.clause.negated != "not" or speaker.clause.unclear:
        raise Unresolved("tolerated")
    for subject in speaker.refs(groups["S"], "person"):
        for value in values.literals(groups["O"], speaker):
            speaker.state(subject, "allergic_to", value)


def birthday(speaker: Speaker, groups: Groups) -> None:
    """A date of birth, with or without the year. The date is the value, not a bound."""
    value = dates.calendar_date(groups["O"], speaker.clause.language.code)
    if value is None:
        raise Unresolved("no date")
    for subject in speaker.owners(groups):
        speaker.state(subject, "born_on", value)


def contact(speaker: Speaker, groups: Groups) -> None:
    """Telephone numbers (E.164 where the country is clear) and e-mail addresses."""
    value = groups["O"].strip(" .,")
    if speaker.rule.predicate == "phone":
        value = values.e164(value, speaker)
    for subject in speaker.owners(groups):
        if speaker.clause.negated == "no":
            speaker.state(subject, speaker.rule.predicate, value)
        elif known := speaker.discourse.known_equal(subject, speaker.rule.predicate, value, None):
            speaker.end(known.id)


def own(speaker: Speaker, groups: Groups) -> None:
    """As in "Luna belongs to me", for things that are known."""
    for mention in speaker.mentions(groups["O"]):
        found = _known_thing(speaker, mention)
        for owner in speaker.refs(groups["S"], "person"):
            speaker.say(found, "owned_by", object_ref=owner)


def device(speaker: Speaker, groups: Groups) -> None:
    """As in "I have a Fairphone", "Anna uses a Pixel 8"; things without a name of their own are left alone."""
    found = phrases.named(groups["O"], speaker.clause.language)
    if found is None or not lexicon.DEVICE.search(found.name):
        raise Unresolved("no device one knows by name")
    ref = speaker.discourse.by_name(found.name, "device", strict=True)
    for subject in speaker.owners(groups):
        if speaker.rule.predicate == "owned_by":
            speaker.say(ref, "owned_by", object_ref=subject)
        else:
            speaker.say(subject, speaker.rule.predicate, object_ref=ref)


def work_as(speaker: Speaker, groups: Groups) -> None:
    """As in "Anna works as a nurse at Klinikum Süd"."""
    (firm,) = speaker.refs(values.cut(groups["O"]), "organisation")[:1]
    for subject in speaker.refs(groups["S"], "person"):
        speaker.say(subject, "job_title", groups["J"])
        speaker.say(subject, "works_at", object_ref=firm)


def policy(speaker: Speaker, groups: Groups) -> None:
    """As in "Always answer in German", "Rule: …": a rule for agents, in the person's words."""
    said = speaker.clause.said
    stated = re.match(r"(?:regel|rule)\s*:\s*", said, re.IGNORECASE)
    wish = lexicon.WISH.match(said)
    text = said[(stated or wish).end() :] if stated or wish else said  # type: ignore[union-attr]
    commanded = lexicon.IMPERATIVES.match(text) or lexicon.INFINITIVE_RULE.fullmatch(text) or wish
    if not stated and not (commanded and lexicon.ALWAYS.search(said)):
        raise Unresolved("no rule")
    speaker.state(speaker.discourse.self_ref, "policy_rule", text.strip(), domain="general")


def decide(speaker: Speaker, groups: Groups) -> None:
    """As in "We decided that …", "Decision: …": a sentence in the domain of decisions, in the person's words."""
    clause = speaker.clause
    found = decision(clause.said, clause.language)
    if found is None:
        raise Unresolved("nothing was decided")
    told = set(re.findall(r"[^\W_]+", clause.bare.casefold()))
    if not told - lexicon.DECIDING - GERMAN - ENGLISH:
        raise Unresolved("it only points at what was decided")
    # In the words of the person, from where they begin: what opens a sentence says nothing, and a label neither.
    label = clause.said[: clause.said.index(":") + 1] if found["frame"] is None else ""
    begins = clause.evidence.find(clause.said)  # not found where it quotes others
    begins = clause.evidence.find(label) if begins < 0 else begins
    content = clause.evidence[max(begins, 0) :].removeprefix(label)
    speaker.said += statement_operations(
        content=content,
        domain=DomainKey(name=DECISIONS),
        memory_type=speaker.rule.memory_type,
        evidence=speaker.evidence,
    )


def mention(speaker: Speaker, groups: Groups) -> None:
    """As in "My sister Anna is coming": whatever else it says, she is my sister."""
    found = phrases.parse_one(groups["O"], speaker.clause.language)
    if not isinstance(found, Related) or found.name is None:
        raise Unresolved("no role with a name")
    speaker.ref(found, found.role.kind)


Builder = Callable[[Speaker, Groups], None]

BUILDERS: Mapping[str, Builder] = {
    builder.__name__: builder
    for builder in (
        identify, name, identify_owned, introduce, alias, feed, relate, leave, mutual, describe, favourite, language,
        count, profession, intolerance, birthday, contact, own, device, work_as, policy, decide, mention,
    )
}  # fmt: skip


def _name(mention: phrases.Mention) -> str:
    if not isinstance(mention, Named):
        raise Unresolved("not a name")
    return mention.name


def _known_thing(speaker: Speaker, mention: phrases.Mention) -> str:
    if not isinstance(mention, Named):
        return speaker.ref(mention, "pet")
    for kind in ("pet", "device", "object"):
        before = len(speaker.discourse.things)
        try:
            ref = speaker.discourse.by_name(mention.name, kind, strict=True)
        except Unresolved:
            continue
        if len(speaker.discourse.things) == before:
            return ref
        del speaker.discourse.things[before:]
    raise Unresolved("what is it?")
