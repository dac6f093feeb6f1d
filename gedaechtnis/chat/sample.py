"""A small German world to try things on: Anna, her family, her cat, her work.

Told as operations, so that it goes through the committer like everything a person says.
"""

from __future__ import annotations

from typing import Any


def _entity(hint: str, name: str, *aliases: str) -> dict[str, Any]:
    kind, _, _slug = hint.rpartition(":")
    return {"op": "upsert_entity", "id_hint": hint, "kind": kind, "canonical_name": name, "aliases": list(aliases)}


def _fact(subject: str, predicate: str, value: Any, **more: Any) -> dict[str, Any]:
    return {"op": "assert_fact", "subject_ref": subject, "predicate": predicate, "object_value": value, **more}


def _relation(subject: str, predicate: str, target: str, **more: Any) -> dict[str, Any]:
    return {"op": "assert_relationship", "subject_ref": subject, "predicate": predicate, "object_ref": target, **more}


WORLD: list[dict[str, Any]] = [
    _entity("person:jonas-weber", "Jonas Weber", "Jonas"),
    _entity("person:mia-weber", "Mia Weber", "Mia"),
    _entity("person:renate-vogel", "Renate Vogel", "Oma Renate"),
    _entity("person:lena-brandt", "Lena Brandt", "Lena"),
    _entity("place:augsburg", "Augsburg"),
    _entity("place:nuernberg", "Nürnberg"),
    _entity("place:muenchen", "München"),
    _entity("organisation:klinikum-sued", "Klinikum Süd"),
    _entity("organisation:kletterverein-fels", "Kletterverein Fels"),
    _entity("pet:minka", "Minka"),
    _entity("project:balkonumbau", "Balkonumbau"),
    _relation("me", "lives_in", "place:augsburg", valid_from="2019-09", valid_to="2024-04-01"),
    _relation("me", "lives_in", "place:nuernberg", valid_from="2024-04-01"),
    _relation("me", "works_at", "organisation:klinikum-sued", valid_from="2024-03-01"),
    _fact("me", "job_title", "Physiotherapeutin", valid_from="2024-03-01"),
    _fact("me", "born_on", "1990-04-03"),
    _fact("me", "eats", "Fleisch", polarity=False, valid_from="2025-09-01"),
    _relation("me", "married_to", "person:jonas-weber", valid_from="2017-06-24"),
    _relation("me", "parent_of", "person:mia-weber"),
    _relation("me", "member_of", "organisation:kletterverein-fels", valid_from="2022"),
    _relation("person:jonas-weber", "parent_of", "person:mia-weber"),
    _relation("person:jonas-weber", "lives_in", "place:nuernberg", valid_from="2024-04-01"),
    _fact("person:jonas-weber", "job_title", "Tischler"),
    _fact("person:mia-weber", "born_on", "2018-11-02"),
    _fact("person:mia-weber", "allergic_to", "Haselnüsse"),
    _fact("person:mia-weber", "favourite", "Apfelkuchen"),
    _relation("person:renate-vogel", "parent_of", "me"),
    _relation("person:renate-vogel", "lives_in", "place:muenchen", valid_from="2021-05"),
    _fact("person:renate-vogel", "phone", "+49 89 5550142"),
    _relation("person:lena-brandt", "friend_of", "me"),
    _relation("person:lena-brandt", "lives_in", "place:muenchen", valid_from="2018", valid_to="2026-06-01"),
    _relation("person:lena-brandt", "lives_in", "place:augsburg", valid_from="2026-06-01"),
    _fact("pet:minka", "species", "Katze"),
    _relation("pet:minka", "owned_by", "me", valid_from="2023-02"),
    _fact("pet:minka", "feeding_time_morning", "06:30", valid_from="2023-02"),
    _fact("pet:minka", "feeding_time_evening", "19:00", valid_from="2025-01-01"),
    _fact("project:balkonumbau", "status", "geplant", valid_from="2026-09-01"),
    _fact("project:balkonumbau", "next_step", "Angebote vergleichen", valid_from="2026-11-10"),
]

GUESSES: list[dict[str, Any]] = [
    _fact(
        "person:jonas-weber",
        "likes",
        "Bergwandern",
        source="inference",
        memory_type="derived_preference",
        confidence=0.5,
        reason="Er hat dieses Jahr drei Touren geplant.",
    ),
]
