"""The registry as the validator and the routing see it."""

from __future__ import annotations

from typing import cast

from curator.snapshot import KindRule, PredicateRule, RegistrySnapshot, ValueType
from gedaechtnis.registry.catalogue import catalogue


def snapshot() -> RegistrySnapshot:
    """Today's vocabulary, frozen."""
    terms = catalogue()
    return RegistrySnapshot(
        kinds={key: KindRule(privileged=kind.privileged) for key, kind in terms.kinds.items()},
        predicates={
            key: PredicateRule(
                functional=predicate.is_functional,
                immutable=predicate.immutable,
                privileged=predicate.privileged,
                subject_kinds=frozenset(predicate.subject_kinds),
                object_kinds=frozenset(predicate.object_kinds),
                value=cast(ValueType, predicate.value_type),
            )
            for key, predicate in terms.predicates.items()
        },
    )
