"""What the commands of this package report and end with."""

from __future__ import annotations


class EmbeddedError(Exception):
    """Something a person can act on: the message says what and how."""
