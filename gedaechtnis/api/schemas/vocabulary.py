from __future__ import annotations

from gedaechtnis.api.schemas.common import Out


class TermOut(Out):
    key: str
    label: str
    description: str
    state: str
    source: str


class KindOut(TermOut):
    icon: str
    rag: bool
    privileged: bool
    classification: int


class PredicateOut(TermOut):
    cardinality: str
    value_type: str
    subject_kinds: list[str]
    object_kinds: list[str]
    inverse: str
    inverse_label: str
    immutable: bool
    symmetric: bool
    transitive: bool
    hierarchical: bool
    privileged: bool
    classification: int
    authority: str


class KindList(Out):
    items: list[KindOut]
    cursor: None = None


class PredicateList(Out):
    items: list[PredicateOut]
    cursor: None = None


class EventTypeList(Out):
    items: list[TermOut]
    cursor: None = None
