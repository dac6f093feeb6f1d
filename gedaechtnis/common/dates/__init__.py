"""Dates as people say them in German and English, resolved against a day."""

from __future__ import annotations

from gedaechtnis.common.dates.phrases import Bounds, Lean, TimePhrase, bounds, calendar_date, find, number

__all__ = ["Bounds", "Lean", "TimePhrase", "bounds", "calendar_date", "find", "number"]
