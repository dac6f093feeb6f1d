"""Reading a window message by message: sentences, clauses, rules; then one proposal.

The engine knows no language and no kind of statement. Both are tables: `patterns_de` and `patterns_en` say how
something is said, `builders` what follows from it. Context (seen messages, the agent's words) is read the same
way, so that "no, at 6 pm" finds what it refers to, but nothing of it is ever proposed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache

from curator import sentences
from curator.extractors.builtin import phrases
from curator.extractors.builtin.builders import BUILDERS
from curator.extractors.builtin.clauses import Clause, clauses, decision, opening
from curator.extractors.builtin.discourse import Discourse, Unresolved, Utterance
from curator.extractors.builtin.grammar import Language, Rule
from curator.extractors.builtin.patterns_de import GERMAN
from curator.extractors.builtin.patterns_en import ENGLISH
from curator.extractors.builtin.references import forgotten, fragment, taken_back
from curator.extractors.builtin.speaker import Speaker
from curator.sentences import Sentence
from curator.window import Window, WindowMessage
from gedaechtnis.memory.schemas import AssertFact, AssertRelationship, MemoryMutationProposal, Operation, UpsertEntity

LANGUAGES: Mapping[str, Language] = {"de": GERMAN, "en": ENGLISH}
MAX_OPERATIONS = 200
MAX_SENTENCE_CHARS = 1_000
"""Longer sentences are not read: people do not state things that way, and rules take time on them."""


class BuiltinExtractor:
    """Implements the Extractor protocol without a model. Equal windows give equal proposals."""

    def extract(self, window: Window) -> MemoryMutationProposal | None:
        """Propose what the person's new messages state; None where they state nothing it understands."""
        reader = _Reader(window)
        for turn, message in enumerate(window.messages):
            reader.read(turn, message)
        operations = reader.operations()[:MAX_OPERATIONS]
        return MemoryMutationProposal(operations=operations) if operations else None


class _Reader:
    """One pass over a window."""

    def __init__(self, window: Window) -> None:
        self.window = window
        self.discourse = Discourse(window)
        self.default_language = window.language or "de"
        self.last_subject: str | None = None

    def read(self, turn: int, message: WindowMessage) -> None:
        """Read one message. Tool output and whatever is not trusted is data and never read as statements."""
        if message.role == "tool" or message.trust == "untrusted":
            return
        parts = sentences.split(message.text, default_language=self.default_language)
        if any(part.is_joke for part in parts):
            return
        self.discourse.may_create = message.role == "user"
        corrected = False
        for sentence in parts:
            corrected = self._sentence(turn, message, sentence, corrected)
            self.default_language = sentence.language

    def _sentence(self, turn: int, message: WindowMessage, sentence: Sentence, corrected: bool) -> bool:
        """Read one sentence; True if it only announced a correction ("No." "That is wrong.")."""
        if len(sentence.own) > MAX_SENTENCE_CHARS:
            return False
        language = LANGUAGES[sentence.language]
        opened = opening(sentence, language)
        decided = decision(opened.rest, language)
        # What was decided may hold conditions and wishes; only whether it was is to be free of doubt.
        vouched = replace(sentence, own=decided["frame"] or "") if decided else sentence
        if sentence.is_question or vouched.is_doubtful:
            self.discourse.note_names(sentence.own)
            return False
        if not opened.rest and not opened.forget:
            return opened.correction
        if opened.forget:
            self._forget(turn, message, sentence, opened.rest, language)
            return False
        found = clauses(
            opened.rest,
            message=message,
            evidence=sentence.text,
            language=language,
            zone=self.window.zone,
            correction=opened.correction or corrected,
        )
        self.last_subject = None
        for index, clause in enumerate(found):
            speaker = self._understand(clause, continues=index > 0)
            if speaker is None:
                self.last_subject = None
                self.discourse.note_names(clause.said)
            else:
                self._keep(turn, message, speaker)
        return False

    def _understand(self, clause: Clause, *, continues: bool) -> Speaker | None:
        speaker = self._by_rules(clause)
        if speaker is None and continues and self.last_subject is not None:
            speaker = self._by_rules(_with_pronoun(clause), focus=self.last_subject)
        return speaker or fragment(clause, self.discourse)

    def _by_rules(self, clause: Clause, focus: str | None = None) -> Speaker | None:
        """The first rule that matches and whose phrases resolve."""
        for speaker, groups in self._attempts(clause):
            known_things, before = len(self.discourse.things), self.discourse.focus
            self.discourse.focus = focus or before
            try:
                BUILDERS[speaker.rule.build](speaker, groups)
                self._take_back(clause, speaker)
            except Unresolved:
                del self.discourse.things[known_things:]
                self.discourse.focus = before
                continue
            self._follow(speaker, groups)
            return speaker
        return None

    def _attempts(self, clause: Clause) -> Iterator[tuple[Speaker, dict[str, str]]]:
        for rule, forms in _compiled(clause.language.code):
            text = clause.text if rule.dated else clause.bare
            for form in forms:
                if match := form.fullmatch(text):
                    groups = {name: value for name, value in match.groupdict().items() if value is not None}
                    yield Speaker(clause, rule, self.discourse), groups

    def _take_back(self, clause: Clause, speaker: Speaker) -> None:
        """As in "not in Ulm but in Cologne": what was believed about Ulm is replaced."""
        if clause.old is None:
            return
        for old_speaker, groups in self._attempts(clause.old):
            known_things = len(self.discourse.things)
            try:
                BUILDERS[old_speaker.rule.build](old_speaker, groups)
            except Unresolved:
                del self.discourse.things[known_things:]
                continue
            taken_back(old_speaker, speaker, self.discourse)
            del self.discourse.things[known_things:]
            return

    def _follow(self, speaker: Speaker, groups: dict[str, str]) -> None:
        """Remember whom the clause was about, for "she" and for a following clause without a subject."""
        subject = groups.get("S") or groups.get("P")
        mentions = phrases.parse(subject, speaker.clause.language) if subject else None
        if mentions and len(mentions) > 1:
            self.last_subject = self.discourse.focus = None
            return
        refs = [
            operation.subject_ref
            for operation in speaker.said
            if isinstance(operation, AssertFact | AssertRelationship)
        ]
        objects = [operation.object_ref for operation in speaker.said if isinstance(operation, AssertRelationship)]
        if mentions:
            try:
                self.last_subject = self.discourse.resolve(mentions[0], speaker.rule.subject_kind)
            except Unresolved:
                self.last_subject = refs[0] if refs else None
        about = next((ref for ref in [self.last_subject, *refs, *objects] if self._is_third(ref)), None)
        self.discourse.focus = about or self.discourse.focus

    def _is_third(self, ref: str | None) -> bool:
        thing = self.discourse.thing(ref) if ref else None
        return thing is not None and ref != self.discourse.self_ref and thing.kind in ("person", "pet")

    def _keep(self, turn: int, message: WindowMessage, speaker: Speaker) -> None:
        for operation in speaker.said:
            if isinstance(operation, AssertFact | AssertRelationship) and operation.correction:
                self._withdraw(operation)
            self.discourse.utterances.append(Utterance(operation, turn, message.learnable))

    def _withdraw(self, correction: AssertFact | AssertRelationship) -> None:
        """What was said a moment ago and corrected before anybody believed it is not proposed at all."""
        for said, earlier in reversed(self.discourse.assertions()):
            if (earlier.subject_ref, earlier.predicate) == (correction.subject_ref, correction.predicate):
                said.emitted = False
                return

    def _forget(self, turn: int, message: WindowMessage, sentence: Sentence, rest: str, language: Language) -> None:
        prepared = next(
            clauses(
                rest,
                message=message,
                evidence=sentence.text,
                language=language,
                zone=self.window.zone,
                correction=False,
            ),
            None,
        )
        meant = None
        if prepared is not None:
            known_things = len(self.discourse.things)
            meant = self._by_rules(prepared)
            del self.discourse.things[known_things:]
        for operation in forgotten(rest, meant, language, self.discourse, message, sentence.text):
            self.discourse.utterances.append(Utterance(operation, turn, message.learnable))

    def operations(self) -> list[Operation]:
        """The proposed operations in order, every new entity introduced before its first use."""
        result: list[Operation] = []
        introduced: set[str] = set()
        for said in self.discourse.utterances:
            if not said.emitted or said.operation in result or _is_introduced(said.operation, introduced):
                continue
            for ref in _refs(said.operation):
                thing = self.discourse.thing(ref)
                if thing is not None and not thing.is_known and ref not in introduced:
                    introduced.add(ref)
                    result.append(
                        UpsertEntity(
                            id_hint=ref, kind=thing.kind, canonical_name=thing.name, evidence=said.operation.evidence
                        )
                    )
            result.append(said.operation)
        return result


def _is_introduced(operation: Operation, introduced: set[str]) -> bool:
    """Whether a new entity stands in the proposal already; it does from now on."""
    if not isinstance(operation, UpsertEntity):
        return False
    is_known = operation.id_hint in introduced
    introduced.add(operation.id_hint)
    return is_known


def _refs(operation: Operation) -> list[str]:
    names = ("subject_ref", "object_ref", "entity_ref")
    return [ref for name in names if (ref := getattr(operation, name, None)) is not None]


def _with_pronoun(clause: Clause) -> Clause:
    pronoun = {"de": "sie", "en": "she"}[clause.language.code]
    old = _with_pronoun(clause.old) if clause.old else None
    return replace(clause, text=f"{pronoun} {clause.text}", bare=f"{pronoun} {clause.bare}", old=old)


@cache
def _compiled(code: str) -> tuple[tuple[Rule, tuple[re.Pattern[str], ...]], ...]:
    return tuple((rule, tuple(re.compile(form) for form in rule.forms)) for rule in LANGUAGES[code].rules)
