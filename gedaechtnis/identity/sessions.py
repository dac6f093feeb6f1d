"""Sign-in sessions in the database; a cookie that cannot name one counts as none."""

from __future__ import annotations

from django.contrib.sessions.backends import db

_MAX_LENGTH = 40


class SessionStore(db.SessionStore):
    """Django's own, asking the database only about keys that it could have made (a quoted NUL is none)."""

    def _validate_session_key(self, key: str | None) -> bool:
        return key is not None and key.isascii() and key.isalnum() and len(key) <= _MAX_LENGTH
