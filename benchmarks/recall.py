"""Whether search finds the turns that answer questions about conversations, and how long it takes.

Run with `make bench-recall`. Conversations are imported as a person imports them, one memory each, and every question
goes through the REST door. Simpler ways of searching are measured in the same run on the same turns. LoCoMo is read
from outside of this repository, as its licence wants; without it only the German probe is measured.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import django
import numpy as np

django.setup()

from django.core.management import call_command  # noqa: E402 (needs the apps)
from django.test import Client  # noqa: E402
from django.utils import translation  # noqa: E402
from django.utils.formats import date_format  # noqa: E402

from benchmarks.measures import DEPTHS, Asked, Result, by_category, table  # noqa: E402
from benchmarks.recall_facts import WAYS, Facts  # noqa: E402
from benchmarks.reporting import circumstances, percentile  # noqa: E402
from gedaechtnis.chat import episodes  # noqa: E402
from gedaechtnis.common.lexemes import lexemes  # noqa: E402
from gedaechtnis.config.startup import settle  # noqa: E402
from gedaechtnis.identity.models import User  # noqa: E402
from gedaechtnis.identity.principals import Principal, person  # noqa: E402
from gedaechtnis.identity.tokens import create_token  # noqa: E402
from gedaechtnis.memory import ports  # noqa: E402
from gedaechtnis.memory.projecting import index, vectors  # noqa: E402
from gedaechtnis.memory.selectors import moments  # noqa: E402
from gedaechtnis.memory.selectors.recall import gathering, meaning, people, query, question  # noqa: E402
from gedaechtnis.memory.selectors.recall.filters import Filters  # noqa: E402
from gedaechtnis.memory.selectors.recall.weights import HYBRID, Weights  # noqa: E402
from gedaechtnis.scoping.context import scope  # noqa: E402

_HERE = Path(__file__).parent
_RESULT = _HERE / "results" / "recall.md"
_LOCOMO = _HERE.parent.parent / "shared" / "data" / "locomo_dev" / "locomo4.json"
_PROBE = _HERE / "probe_de.json"
_CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open domain", 4: "single hop"}
_VOICES = {
    "words": ("lexical", "session"),
    "meaning": ("semantic",),
    "times": ("date", "says_when"),
    "subject": ("subject",),
    "form of the turn": ("says_name", "first_person", "asks", "short_question", "answers"),
    "graph": ("graph",),
}
_STEPS = (0.5, 0.7, 1.4, 2.0)


@dataclass(frozen=True, slots=True)
class Turn:
    id: str
    session: str
    speaker: str
    text: str
    sent_at: datetime


@dataclass(frozen=True, slots=True)
class Conversation:
    name: str
    language: str
    turns: Sequence[Turn]
    questions: Sequence[Asked]


@dataclass(slots=True)
class Seen:
    """The features of every candidate of one question, and which turn each is."""

    asked: Asked
    ids: list[str]
    features: np.ndarray[Any, Any]

    def ranked(self, factors: np.ndarray[Any, Any]) -> Result:
        order = np.argsort(-(self.features @ factors), kind="stable")[: DEPTHS[-1]]
        return Result(self.asked, [self.ids[place] for place in order])


@dataclass(slots=True)
class Measured:
    """What came of one conversation."""

    ways: dict[str, list[Result]] = field(default_factory=dict)
    seen: list[Seen] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


def locomo(path: Path) -> list[Conversation]:
    """The conversations of LoCoMo with the questions of categories 1 to 4 that name turns as their evidence."""
    found = []
    for number, entry in enumerate(json.loads(path.read_text(encoding="utf-8"))):
        talk = entry["conversation"]
        sessions = sorted((int(key.split("_")[1]), key) for key, turns in talk.items() if isinstance(turns, list))
        turns = [
            Turn(turn["dia_id"], key, turn["speaker"], turn["text"], _locomo_date(talk[f"{key}_date_time"]))
            for _number, key in sessions
            for turn in talk[key]
        ]
        known = {turn.id for turn in turns}
        questions = []
        for asked in entry["qa"]:
            named = {
                f"D{int(session)}:{int(turn)}"
                for text in asked["evidence"]
                for session, turn in re.findall(r"D(\d+):(\d+)", text)
            }
            if asked["category"] in _CATEGORIES and named & known:
                questions.append(Asked(asked["question"], _CATEGORIES[asked["category"]], frozenset(named & known)))
        found.append(Conversation(f"locomo-{number}", "en", turns, questions))
    return found


def _locomo_date(text: str) -> datetime:
    return datetime.strptime(text, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)


def probe(path: Path) -> Conversation:
    """The German probe."""
    told = json.loads(path.read_text(encoding="utf-8"))
    turns = [
        Turn(turn["id"], str(number), turn["speaker"], turn["text"], datetime.fromisoformat(session["at"]))
        for number, session in enumerate(told["sessions"])
        for turn in session["turns"]
    ]
    questions = [Asked(asked["question"], asked["kind"], frozenset(asked["evidence"])) for asked in told["questions"]]
    return Conversation("probe-de", "de", turns, questions)


def remember(conversation: Conversation) -> tuple[User, Principal]:
    """A person who has imported the conversation, indexed and with vectors."""
    user = User.objects.create(username=conversation.name, language=conversation.language, time_zone="UTC")
    principal = person(user)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "chat.jsonl"
        lines = [
            {
                "chat": conversation.name,
                "session": turn.session,
                "id": turn.id,
                "speaker": turn.speaker,
                "role": "other",
                "sent_at": turn.sent_at.isoformat(),
                "text": turn.text,
            }
            for turn in conversation.turns
        ]
        path.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in lines), encoding="utf-8")
        call_command("import_chats", str(path), format="jsonl", user=user.username, verbosity=0, stdout=_Silent())
    while episodes.project(scope_ref=principal.default_scope):
        pass
    index.run(scope_ref=principal.default_scope)
    while vectors.embed_pending(scope_ref=principal.default_scope).left:
        pass
    return user, principal


class _Silent:
    def write(self, _text: str) -> None:
        """What a command tells a person."""

    def flush(self) -> None:
        """Nothing is kept."""


def measure(conversation: Conversation) -> Measured:
    """Ask every question by REST, and by the simpler ways."""
    user, principal = remember(conversation)
    _token, secret = create_token(user=user, name="bench", agent_role="")
    measured = Measured()
    measured.ways |= floors(conversation)
    client = Client(headers={"Authorization": f"Bearer {secret}"})
    results = []
    for asked in conversation.questions:
        body = json.dumps({"query": asked.text, "limit": DEPTHS[-1], "source_kinds": ["episode"]})
        start = time.perf_counter()
        response = client.post("/api/world/search", body, content_type="application/json")
        measured.seconds.append(time.perf_counter() - start)
        results.append(Result(asked, [hit["external_id"] for hit in response.json()["hits"]]))
        measured.seen.append(_seen(asked, principal))
    measured.ways["search"] = results
    return measured


def _seen(asked: Asked, principal: Principal) -> Seen:
    with scope(principal):
        named = people.named_in(asked.text, own_scope=principal.read_scopes[0])
    vector = meaning.ask(*query.phrasings(asked.text, named.speaker_words))
    with scope(principal):
        moment = moments.settle(principal=principal)
        understood = question.understand(asked.text, named, mode="hybrid", principal=principal, moment=moment)
        filters = Filters(ticks=moment.ticks, is_of_today=True, source_kinds=("episode",))
        weighed = list(gathering.gather(understood, vector, filters, moment))
    names = [one.name for one in fields(Weights)]
    return Seen(
        asked,
        [one.record.external_id or "" for one in weighed],
        np.array([[getattr(one.features, name) for name in names] for one in weighed]).reshape(-1, len(names)),
    )


def floors(conversation: Conversation) -> dict[str, list[Result]]:
    """Simpler ways: words as they are, stemmed words, these with the day, vectors of single turns, and both fused."""
    plain = [re.findall(r"\w+", turn.text.lower()) for turn in conversation.turns]
    stemmed = [lexemes(turn.text) for turn in conversation.turns]
    with translation.override(conversation.language):
        dated = [lexemes(f"{date_format(turn.sent_at, 'j F Y')} {turn.text}") for turn in conversation.turns]
    model = ports.embedding_model()
    ids = [turn.id for turn in conversation.turns]
    ways: dict[str, list[Result]] = {}
    dense = _matrix(model, [turn.text for turn in conversation.turns]) if model else None
    for asked in conversation.questions:
        by_word = _bm25(re.findall(r"\w+", asked.text.lower()), plain)
        by_stem = _bm25(lexemes(asked.text), stemmed)
        by_date = _bm25(lexemes(asked.text), dated)
        scores = {"BM25": by_word, "BM25, stemmed": by_stem, "BM25, stemmed, with the day before the text": by_date}
        if dense is not None and model is not None:
            near = dense @ _matrix(model, [asked.text])[0]
            scores |= {"vectors": near, "BM25 and vectors, fused": _unit(by_stem) + _unit(near)}
        for way, found in scores.items():
            order = np.argsort(-found, kind="stable")[: DEPTHS[-1]]
            ways.setdefault(way, []).append(Result(asked, [ids[place] for place in order]))
    return ways


def _matrix(model: ports.EmbeddingModel, texts: Sequence[str]) -> np.ndarray[Any, Any]:
    return np.array([vector or [0.0] * model.dimensions for vector in model.embed(texts)])


def _unit(scores: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    spread = scores.max() - scores.min()
    return (scores - scores.min()) / spread if spread else scores * 0


def _bm25(words: Sequence[str], documents: Sequence[Sequence[str]], k1: float = 1.2, b: float = 0.75) -> Any:
    counts = [Counter(document) for document in documents]
    mean = statistics.fmean(len(document) for document in documents)
    scores = np.zeros(len(documents))
    for word in set(words):
        holding = sum(word in count for count in counts)
        rarity = math.log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))
        for place, count in enumerate(counts):
            if word in count:
                norm = k1 * (1 - b + b * len(documents[place]) / mean)
                scores[place] += rarity * count[word] * (k1 + 1) / (count[word] + norm)
    return scores


def fit(measured: Sequence[Measured]) -> np.ndarray[Any, Any]:
    """Weights that find most, each changed in turn by steps from the product's."""
    best = _array(HYBRID)
    found = _quality(measured, best)
    for place in range(len(best)):
        for step in _STEPS:
            tried = best.copy()
            tried[place] *= step
            if (quality := _quality(measured, tried)) > found:
                best, found = tried, quality
    return best


def _quality(measured: Sequence[Measured], factors: np.ndarray[Any, Any]) -> float:
    return statistics.fmean(seen.ranked(factors).recall(10) for one in measured for seen in one.seen)


def _array(weights: Weights) -> np.ndarray[Any, Any]:
    return np.array([getattr(weights, one.name) for one in fields(Weights)])


def _without(names: Iterable[str]) -> np.ndarray[Any, Any]:
    return _array(replace(HYBRID, **dict.fromkeys(names, 0.0)))


def _all(measured: Sequence[Measured], way: str) -> list[Result]:
    return [result for one in measured for result in one.ways[way]]


def section(title: str, measured: Sequence[Measured]) -> list[str]:
    """One data set: all ways, search by category, what each voice is worth."""
    seconds = [1000 * one for part in measured for one in part.seconds]
    factors = {"all": _array(HYBRID)} | {f"without {voice}": _without(names) for voice, names in _VOICES.items()}
    ablation = {
        name: [seen.ranked(weights) for one in measured for seen in one.seen] for name, weights in factors.items()
    }
    return [
        f"## {title}",
        "",
        *table({way: _all(measured, way) for way in measured[0].ways}),
        "",
        f"A search by REST takes {statistics.median(seconds):.0f} ms, 95 of 100 at most "
        f"{percentile(seconds, 0.95):.0f} ms.",
        "",
        "By category:",
        "",
        *table(by_category(_all(measured, "search"))),
        "",
        "Without single voices:",
        "",
        *table(ablation),
        "",
    ]


def left_out(measured: Sequence[Measured]) -> list[str]:
    """Weights fitted to all conversations but one and tried on that one."""
    fitted = [fit([other for other in measured if other is not one]) for one in measured]
    results = [seen.ranked(weights) for one, weights in zip(measured, fitted, strict=True) for seen in one.seen]
    lines = [
        "Weights fitted to the other conversations, tried on the one left out:",
        "",
        *table({"all": results} | by_category(results)),
        "",
        "| weight | ours | fitted |",
        "|---|---|---|",
    ]
    for place, one in enumerate(fields(Weights)):
        spread = ", ".join(f"{weights[place]:.2f}" for weights in fitted)
        lines.append(f"| {one.name} | {getattr(HYBRID, one.name):.2f} | {spread} |")
    return [*lines, ""]


def facts() -> list[str]:
    """The probe of facts: by kind of question, and without single voices and losses."""
    probed = Facts()
    ways = {way: probed.ask(way) for way in WAYS}
    return ["## Facts", "", *table(by_category(ways["all"])), "", *table(ways), ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--locomo", type=Path, default=_LOCOMO)
    parser.add_argument("--result", type=Path, default=_RESULT)
    options = parser.parse_args()
    call_command("setup", verbosity=0)
    settle()
    loads = [os.getloadavg()[0]]
    german = [measure(probe(_PROBE))]
    parts = {"The German probe": german}
    lines = []
    if options.locomo.exists():
        talks = [measure(conversation) for conversation in locomo(options.locomo)]
        parts = {"LoCoMo, categories 1 to 4": talks} | parts
        lines = left_out(talks)
    else:
        lines = [f"LoCoMo was not measured: there is no {options.locomo.name} beside this repository.", ""]
    told = facts()
    loads.append(os.getloadavg()[0])
    report = [
        "# What search finds",
        "",
        f"{circumstances(loads)} r@n: share of the turns that answer a question among the first n; hit@n: questions "
        "with any; MRR: mean of one over the place of the first. Searches through the REST door, the client in the "
        "same process; embedding model: the bundled one.",
        "",
        *(line for title, measured in parts.items() for line in section(title, measured)),
        *lines,
        *told,
    ]
    options.result.write_text("\n".join(report).rstrip() + "\n", encoding="utf-8")
    figures = {
        title: {
            way: {f"r@{depth}": statistics.fmean(r.recall(depth) for r in _all(measured, way)) for depth in DEPTHS}
            | {"hit@10": statistics.fmean(r.is_hit(10) for r in _all(measured, way))}
            for way in measured[0].ways
        }
        for title, measured in parts.items()
    }
    options.result.with_suffix(".json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
