"""Load the core vocabulary from `data/`; running it again changes nothing a person changed."""

from __future__ import annotations

from gedaechtnis.registry import catalogue
from gedaechtnis.registry.models import EntityKind, EventType, Predicate
from gedaechtnis.registry.tables import rows


def seed() -> None:
    """Insert missing core terms. Existing ones stay as they are: the admin may have changed them."""
    EntityKind.objects.bulk_create(
        [
            EntityKind(
                **{
                    **row,
                    "rag": bool(row["rag"]),
                    "privileged": bool(row["privileged"]),
                    "classification": int(row["classification"]),
                }
            )
            for row in rows("kinds.csv")
        ],
        ignore_conflicts=True,
    )
    Predicate.objects.bulk_create([_predicate(row) for row in rows("predicates.csv")], ignore_conflicts=True)
    EventType.objects.bulk_create([EventType(**row) for row in rows("event_types.csv")], ignore_conflicts=True)
    catalogue.forget()


def _predicate(row: dict[str, str]) -> Predicate:
    flags = set(row["flags"].split())
    return Predicate(
        key=row["key"],
        cardinality=row["cardinality"],
        classification=int(row["classification"]),
        value_type=row["value"],
        inverse=row["inverse"],
        label_de=row["label_de"],
        label_en=row["label_en"],
        inverse_label_de=row["inverse_de"],
        inverse_label_en=row["inverse_en"],
        description_de=row["description_de"],
        description_en=row["description_en"],
        subject_kinds=row["subjects"].split(),
        object_kinds=row["objects"].split(),
        authority=Predicate.Authority.SOURCE if "source" in flags else Predicate.Authority.PERSON,
        **dict.fromkeys(flags - {"source"}, True),
    )
