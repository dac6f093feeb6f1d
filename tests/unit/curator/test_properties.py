from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from hypothesis import given, settings
from hypothesis import strategies as st

from curator import prefilter
from curator.extractors.builtin import BuiltinExtractor
from curator.validator import validate
from curator.window import from_preview
from gedaechtnis.common import dates
from tests.unit.curator.conversation import CAST, NOW, REGISTRY

_VOCABULARY = """
Luna Anna Ben ich meine Katze Schwester ist wohnt in Köln bekommt um 19 Uhr Futter nicht sondern nein , . ! ? ab morgen
vergiss das dass und is my cat no at 6 pm from tomorrow forget that lives Ulm doesn't anymore's „ “ : - merk dir immer
antworte seit 2019 31.12.9999 99 vor 99999 Jahren 0170 1234567 a@b.de Lieblings 😂
"""
_WORDS = st.sampled_from(_VOCABULARY.split())
_EXPECTED_REJECTIONS = {"empty_interval", "contradiction", "subject_kind", "object_kind", "date_out_of_range"}
_SPEECH = st.lists(_WORDS, max_size=14).map(" ".join)
_TEXT = st.one_of(st.text(max_size=200), _SPEECH)


@settings(max_examples=200, deadline=None)
@given(texts=st.lists(_TEXT, min_size=1, max_size=3))
def test_any_text_is_survived_and_every_quote_is_real(texts: list[str]) -> None:
    window = from_preview(
        {
            "now": NOW,
            "zone": "Europe/Berlin",
            "messages": [{"role": "user", "text": text} for text in texts],
            "known": list(CAST),
        }
    )
    prefilter.decide(window)
    proposal = BuiltinExtractor().extract(window)
    if proposal is None:
        return
    by_ref = {f"msg:{message.id}": message.text for message in window.messages}
    for operation in proposal.operations:
        assert operation.evidence is not None
        assert operation.evidence.text
        assert operation.evidence.text in by_ref[operation.evidence.ref or ""]
    _, rejections = validate(proposal, window, REGISTRY)
    assert {rejection.code for rejection in rejections} <= {
        "empty_interval",
        "contradiction",
        "subject_kind",
        "object_kind",
        "date_out_of_range",
    }


@settings(max_examples=200, deadline=None)
@given(
    text=_TEXT,
    language=st.sampled_from(["de", "en"]),
    moment=st.floats(-2e9, 7e9).map(lambda seconds: datetime.fromtimestamp(seconds, UTC)),
)
def test_dates_lie_in_the_text_and_apart(text: str, language: str, moment: datetime) -> None:
    end = 0
    for phrase in dates.find(text, sent_at=moment, zone=ZoneInfo("Europe/Berlin"), language=language):
        assert end <= phrase.start < phrase.end <= len(text)
        end = phrase.end
        for lean in dates.Lean:
            period = phrase.period(lean)
            assert period is None or period.first < period.after
    dates.calendar_date(text, language)
