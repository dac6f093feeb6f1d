"""The end of starting a process that stays."""

from __future__ import annotations

import gc

from gedaechtnis.common import lexemes
from gedaechtnis.memory import ports

_NEW_OBJECTS = 10_000
"""After so many the collector looks for garbage: about as many as one search makes. After 700, as Python begins with,
it looks some fifteen times a search and often at everything, which the slowest twentieth of searches felt by 3 ms.
"""


def settle() -> None:
    """Load the dictionaries and the embedding model: no first question waits for them, forked processes share them.

    Then take what was made while starting out of the garbage collector's sight: it lives as long as the process.
    Otherwise every full collection looks at all of it again, a pause of 80 ms in the middle of somebody's request.
    """
    lexemes.warm_up()
    if (model := ports.embedding_model()) is not None:
        model.warm_up()
    gc.collect()
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS)
