"""Settings: `base` holds what is common, `dev`, `test`, `prod` and `lint` what differs."""

from __future__ import annotations
