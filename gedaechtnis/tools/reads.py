"""Which agent read what by a tool: the same entry in the security log as for a read at the REST door, and a count."""

from __future__ import annotations

from collections.abc import Iterator

from django.http import HttpRequest
from pydantic import BaseModel

from gedaechtnis.identity import audit
from gedaechtnis.identity.principals import Principal, PrincipalKind
from gedaechtnis.memory import usage
from gedaechtnis.memory.references import as_uuid
from gedaechtnis.memory.selectors import places
from gedaechtnis.tools.data import FactData, ToolAnswer

OK = 200


def record(
    tool: str, asked: BaseModel, *, principal: Principal, status: int = OK, request: HttpRequest | None = None
) -> None:
    """Write the entry before the answer leaves. Things are named by id, never by a name: a name may be content."""
    if principal.kind is not PrincipalKind.AGENT:
        return
    audit.record(
        audit.Kind.READ,
        acted_by=principal.acted_by,
        sub=principal.sub,
        token_id=principal.token_id,
        request=request,
        route=f"tools.{tool}",
        status=str(status),
        **_read(asked, principal),
    )


def count(answer: ToolAnswer) -> None:
    """Note the facts that an answer tells."""
    usage.told((fact.scope_ref, fact.id) for fact in _facts_in(answer.data))


def _facts_in(data: object) -> Iterator[FactData]:
    if isinstance(data, FactData):
        yield data
    elif isinstance(data, BaseModel):
        for name in type(data).model_fields:
            yield from _facts_in(getattr(data, name))
    elif isinstance(data, list):
        for one in data:
            yield from _facts_in(one)


def _read(asked: BaseModel, principal: Principal) -> dict[str, str]:
    ref, fact = str(getattr(asked, "ref", "")), str(getattr(asked, "fact", ""))
    fact_id = as_uuid(fact.removeprefix("fact:"))
    if fact_id is not None:
        found = places.of_fact(principal=principal, fact_id=fact_id)
        return {"fact": str(fact_id), **({"scope": found.scope_ref} if found else {})}
    about = ref or fact.partition(".")[0]
    place = places.of_entity(principal=principal, ref=about) if about else None
    return {"entity": str(place.id), "scope": place.scope_ref} if place else {"scope": "all"}
