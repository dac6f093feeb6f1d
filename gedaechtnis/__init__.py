"""Gedächtnis: a self-hosted, bitemporal memory for personal agents."""

from __future__ import annotations

import os

# The libraries beneath numpy read these once, when it is first imported, by whomever: so they stand here. A text is
# too small to be shared out; with a thread a core, processes that embed at the same time take nine times as long.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")
