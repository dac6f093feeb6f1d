"""What the tools take: closed forms, whose descriptions a model reads in its person's language.

Descriptions are msgids; `schema` translates them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gedaechtnis.common.form_errors import worded
from gedaechtnis.common.problems import Problem
from gedaechtnis.common.text import MAX_LITERAL_BYTES, check_text

MAX_LIMIT = 200


class Arguments(BaseModel):
    """A field nobody knows is a mistake, not a wish to ignore."""

    model_config = ConfigDict(extra="forbid")


Ref = Annotated[
    str,
    Field(
        min_length=1,
        max_length=300,
        description=gettext_noop(
            "What it is about: a reference `kind:slug` as these tools return it, an id, `me` for the person "
            "themselves, or a name that only one thing bears."
        ),
    ),
]
FactRef = Annotated[
    str,
    Field(
        min_length=1,
        max_length=500,
        description=gettext_noop(
            "Which fact: `fact:<id>`, or `kind:slug.predicate` where only one holds now, as in "
            "`pet:luna.feeding_time_evening`."
        ),
    ),
]
PredicateKey = Annotated[
    str, Field(min_length=1, max_length=200, description=gettext_noop("A predicate, as in `lives_in`."))
]
Moment = Annotated[
    str,
    Field(
        min_length=4,
        max_length=100,
        description=gettext_noop("A day (`2026-06-07`, its last instant) or an instant with an offset (RFC 3339)."),
    ),
]
Bound = Annotated[
    str,
    Field(
        max_length=100,
        description=gettext_noop(
            "A day, month (`2026-06`), year, or instant with an offset; `unknown` where nobody knows."
        ),
    ),
]
Limit = Annotated[
    int,
    Field(ge=1, le=MAX_LIMIT, description=gettext_noop("How many at most; the answer says if there are more.")),
]
Value = Annotated[
    str | int | float | bool,
    Field(
        description=gettext_noop(
            "The object: a value (text, number, true, false), or the reference or name of another thing."
        )
    ),
]
RunId = Annotated[
    str,
    Field(
        min_length=1,
        max_length=200,
        description=gettext_noop("A name for this attempt: asked again with the same one, nothing is proposed twice."),
    ),
]
Domain = Annotated[
    str,
    Field(
        min_length=1,
        max_length=200,
        description=gettext_noop(
            "To what knowledge it belongs: a name as in `architecture`, of one repository as in "
            "`repo:my-repo/architecture`."
        ),
    ),
]
Repo = Annotated[
    str,
    Field(
        min_length=1,
        max_length=80,
        description=gettext_noop("The repository at hand, as in `my-repo`: it belongs there only."),
    ),
]
Reason = Annotated[
    str, Field(max_length=2000, description=gettext_noop("Why, in a sentence. The person who decides reads it."))
]
Quote = Annotated[
    str,
    Field(
        max_length=8000,
        description=gettext_noop("The person's own sentence that says so, word for word; with `message`."),
    ),
]
MessageRef = Annotated[
    str, Field(max_length=200, description=gettext_noop("The message the quote stands in: `msg:<id>`."))
]


class FindEntity(Arguments):
    name: str = Field(
        min_length=1, max_length=500, description=gettext_noop("A name or alias, a part of one, or nearly one.")
    )
    kind: str | None = Field(default=None, max_length=100, description=gettext_noop("Only of this kind, as in `pet`."))
    cursor: str | None = Field(
        default=None, max_length=2000, description=gettext_noop("As the answer before gave it, for the next ones.")
    )
    limit: Limit = 20


class AboutEntity(Arguments):
    ref: Ref
    limit: Limit = 40


class RecallFacts(Arguments):
    ref: Ref
    predicate: str = Field(
        default="*",
        min_length=1,
        max_length=200,
        description=gettext_noop("A predicate or a pattern of it: `preferred_*`, `feeding_time_*`, `*` for all."),
    )
    limit: Limit = 40


class FactHistory(Arguments):
    ref: Ref
    predicate: PredicateKey
    beliefs: Literal["believed", "all"] = Field(
        default="believed",
        description=gettext_noop("`all` adds what was believed once and is no longer: corrections, retractions."),
    )
    limit: Limit = 40


class Neighbors(Arguments):
    ref: Ref
    depth: int = Field(default=1, ge=1, le=3, description=gettext_noop("How many relationships away."))
    predicate: PredicateKey | None = None
    limit: Limit = 40


class StateAt(Arguments):
    ref: Ref
    at: Moment
    predicate: PredicateKey | None = None
    limit: Limit = 40


class EffectsOf(Arguments):
    of: str = Field(
        min_length=1, max_length=200, description=gettext_noop("`run:<run id>` or `event:<id>`: what came of it.")
    )
    limit: Limit = 40


class ExplainChange(Arguments):
    fact: FactRef
    limit: Limit = 20


class WhoHas(Arguments):
    predicate: PredicateKey
    object: Value
    at: Moment | None = None
    limit: Limit = 40


class SearchMemory(Arguments):
    query: str = Field(
        min_length=1, max_length=10_000, description=gettext_noop("What is looked for, in words of any language.")
    )
    mode: Literal["hybrid", "keyword", "semantic"] = Field(
        default="hybrid", description=gettext_noop("`keyword` by words alone, `semantic` by meaning, `hybrid` by all.")
    )
    kind: str | None = Field(default=None, max_length=100, description=gettext_noop("Only of this kind, as in `pet`."))
    predicate: PredicateKey | None = None
    repo: str | None = Field(
        default=None,
        min_length=1,
        max_length=100,
        description=gettext_noop("The slug of the repository you work in: what is known of it comes first."),
    )
    since: Bound | None = Field(default=None, description=gettext_noop("Only what is about a time from here on."))
    until: Bound | None = Field(default=None, description=gettext_noop("Only what is about a time before this."))
    at: Moment | None = None
    cursor: str | None = Field(
        default=None, max_length=2000, description=gettext_noop("As the answer before gave it, for the next ones.")
    )
    limit: int = Field(
        default=10, ge=1, le=100, description=gettext_noop("How many at most; the answer says if there are more.")
    )


class Conflicts(Arguments):
    state: Literal["open", "all"] = Field(
        default="open", description=gettext_noop("`open`: what still contradicts; `all`: settled ones too.")
    )
    cursor: str | None = Field(
        default=None, max_length=2000, description=gettext_noop("As the answer before gave it, for the next ones.")
    )
    limit: Limit = 20


class ProposeFact(Arguments):
    subject: str | None = Field(
        default=None,
        min_length=1,
        max_length=300,
        description=gettext_noop("Whom or what it is about: a reference, `me`, or a name, also that of something new."),
    )
    subject_kind: str | None = Field(
        default=None,
        max_length=100,
        description=gettext_noop("The kind of the subject if it may be new, as in `pet`."),
    )
    predicate: PredicateKey | None = None
    object: Value
    object_kind: str | None = Field(
        default=None,
        max_length=100,
        description=gettext_noop("For relationships: the kind of the other thing, if it may be new."),
    )
    domain: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description=gettext_noop(
            "For knowledge of the workspace in a sentence: the domain it belongs to, as in `architecture`. `object` is "
            "the sentence then, and `subject` and `predicate` stay empty."
        ),
    )
    topic: str = Field(
        default="",
        max_length=200,
        description=gettext_noop("With `domain`: what within it, as in `deployment`. Only one topic is compared."),
    )
    repo: str | None = Field(
        default=None,
        max_length=100,
        description=gettext_noop("With `domain`: the slug of the repository, if it holds in that one only."),
    )
    sources: list[str] = Field(
        default_factory=list,
        max_length=50,
        description=gettext_noop("Observations it rests on: `obs:<id>`, as `record_observation` returned them."),
    )
    negated: bool = Field(default=False, description=gettext_noop("True for what does not hold: does not eat meat."))
    valid_from: Bound | None = None
    valid_to: Bound | None = None
    confidence: float = Field(default=1.0, ge=0, le=1, description=gettext_noop("How sure you are, 0 to 1."))
    memory_type: Literal[
        "user_assertion",
        "preference",
        "decision",
        "commitment",
        "derived_preference",
        "derived_pattern",
        "hypothesis",
        "note",
    ] = Field(
        default="user_assertion",
        description=gettext_noop("What it is: the person's own words, or what you derived from them."),
    )
    quote: Quote | None = None
    message: MessageRef | None = None
    applies_to: Ref | None = Field(
        default=None, description=gettext_noop("The context it holds in, if not everywhere, as in `context:work`.")
    )
    reason: Reason | None = None
    run_id: RunId | None = None


class SupersedeFact(Arguments):
    fact: FactRef
    object: Value
    how: Literal["changed", "was_wrong"] = Field(
        default="changed",
        description=gettext_noop("`changed`: it held, and something else follows; `was_wrong`: it never held."),
    )
    valid_from: Bound | None = Field(
        default=None, description=gettext_noop("Since when the new one holds; now without it.")
    )
    quote: Quote | None = None
    message: MessageRef | None = None
    reason: Reason | None = None
    run_id: RunId | None = None


class Forget(Arguments):
    fact: FactRef
    how: Literal["ended", "was_wrong"] = Field(
        default="was_wrong",
        description=gettext_noop("`ended`: it held and does no longer; `was_wrong`: it never did."),
    )
    at: Bound | None = Field(default=None, description=gettext_noop("With `ended`: when it stopped; now without it."))
    reason: Reason | None = None
    run_id: RunId | None = None


def schema(form: type[BaseModel], mode: Literal["validation", "serialization"] = "validation") -> dict[str, Any]:
    """The JSON schema of a form, in the active language; without titles, which only repeat names."""
    told = _told(form.model_json_schema(mode=mode))
    return {name: part for name, part in told.items() if name != "description"}


def _told(node: Any) -> Any:
    if isinstance(node, list):
        return [_told(part) for part in node]
    if not isinstance(node, dict):
        return node
    return {
        name: {key: _told(part) for key, part in value.items()}
        if name in {"properties", "$defs"}
        else _(value)
        if name == "description"
        else _told(value)
        for name, value in node.items()
        if name != "title"
    }


def read(form: type[BaseModel], arguments: Mapping[str, Any]) -> Any:
    """The arguments as the form has them.

    Raises:
        Problem: what the first misfit is, in the reader's language, naming its field.
    """
    for name, value in arguments.items():
        if isinstance(value, str):
            check_text(value, field=name, limit=MAX_LITERAL_BYTES)
    try:
        return form.model_validate(dict(arguments))
    except ValidationError as error:
        first = error.errors()[0]
        code, detail = worded(first)
        field = str(first["loc"][0]) if first["loc"] else "arguments"
        raise Problem(code, f"{field}: {detail}", field=field) from error
