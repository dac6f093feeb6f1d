"""A small cast and short ways to build windows and read proposals."""

from __future__ import annotations

from typing import Any

from curator.extractors.builtin import BuiltinExtractor
from curator.snapshot import KindRule, PredicateRule, RegistrySnapshot
from curator.window import Window, from_preview
from gedaechtnis.memory.schemas import Operation

NOW = "2026-11-30T16:30:00+01:00"  # a Monday

MIRA = {"ref": "person:mira", "name": "Mira", "kind": "person", "is_self": True}
ANNA = {
    "ref": "person:anna",
    "name": "Anna",
    "kind": "person",
    "aliases": ["Anni"],
    "facts": [
        {"predicate": "works_at", "object": "organisation:siemens"},
        {"predicate": "lives_in", "object": "place:nuernberg"},
        {"predicate": "sibling_of", "object": "person:mira"},
        {"predicate": "phone", "value": "+49911555"},
    ],
}
LUNA = {
    "ref": "pet:luna",
    "name": "Luna",
    "kind": "pet",
    "facts": [
        {"predicate": "feeding_time_evening", "value": "19:00"},
        {"predicate": "species", "value": "Katze"},
    ],
}
SIEMENS = {"ref": "organisation:siemens", "name": "Siemens", "kind": "organisation"}
NUERNBERG = {"ref": "place:nuernberg", "name": "Nürnberg", "kind": "place"}
CAST = (MIRA, ANNA, LUNA, SIEMENS, NUERNBERG)

_PERSON, _PET, _PLACE = frozenset({"person"}), frozenset({"pet"}), frozenset({"place"})
REGISTRY = RegistrySnapshot(
    kinds={
        kind: KindRule(privileged=kind == "policy")
        for kind in ("person", "pet", "place", "organisation", "device", "policy")
    },
    predicates={
        "lives_in": PredicateRule(functional=True, subject_kinds=_PERSON | _PET, object_kinds=_PLACE, value="entity"),
        "works_at": PredicateRule(subject_kinds=_PERSON, object_kinds=frozenset({"organisation"}), value="entity"),
        "sibling_of": PredicateRule(subject_kinds=_PERSON, object_kinds=_PERSON, value="entity"),
        "owned_by": PredicateRule(object_kinds=_PERSON, value="entity"),
        "species": PredicateRule(functional=True, immutable=True, subject_kinds=_PET, value="text"),
        "born_on": PredicateRule(functional=True, immutable=True, subject_kinds=_PERSON | _PET, value="date"),
        "age": PredicateRule(functional=True, subject_kinds=_PERSON | _PET, value="number"),
        "likes": PredicateRule(value="text"),
        "eats": PredicateRule(value="text"),
        "email": PredicateRule(value="email"),
        "phone": PredicateRule(value="phone"),
        "feeding_time_evening": PredicateRule(functional=True, subject_kinds=_PET, value="time"),
        "feeding_time_morning": PredicateRule(functional=True, subject_kinds=_PET, value="time"),
        "policy_rule": PredicateRule(privileged=True, value="text"),
    },
)


def window(*messages: str | dict[str, Any], known: tuple[dict[str, Any], ...] = CAST, **more: Any) -> Window:
    """A window in Berlin; plain texts are the person's messages, sent now."""
    lines = [{"role": "user", "text": item} if isinstance(item, str) else item for item in messages]
    return from_preview({"now": NOW, "zone": "Europe/Berlin", "messages": lines, "known": list(known)} | more)


def learned(*messages: str | dict[str, Any], **more: Any) -> list[Operation]:
    """What the built-in extractor proposes."""
    proposal = BuiltinExtractor().extract(window(*messages, **more))
    return [] if proposal is None else list(proposal.operations)


def brief(operation: Operation) -> str:
    """An operation in one line: `anna lives_in place:ulm from 2026-12-01`, `end person:anna#0`, `+ pet:rex`."""
    if operation.op == "upsert_entity":
        return f"+ {operation.id_hint}"
    if operation.op == "invalidate_fact":
        return f"{operation.mode} {operation.target_fact_id}"
    if operation.op == "add_alias":
        return f"{operation.entity_ref} alias {operation.alias}"
    if operation.op not in ("assert_fact", "assert_relationship"):
        return operation.op
    value = operation.object_ref if operation.op == "assert_relationship" else operation.object_value
    parts = [operation.subject_ref, "" if operation.polarity else "not", operation.predicate, str(value)]
    parts += [f"from {operation.valid_from}"] if operation.valid_from else []
    parts += [f"until {operation.valid_to}"] if operation.valid_to else []
    parts += ["still"] if operation.still else []
    parts += ["corrected"] if operation.correction else []
    parts += [f"replacing {operation.replaces_fact_id}"] if operation.replaces_fact_id else []
    return " ".join(part for part in parts if part)
