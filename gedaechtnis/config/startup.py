"""The end of starting a process that stays."""

from __future__ import annotations

import gc

from gedaechtnis.common import lexemes
from gedaechtnis.memory import ports


_NEW_OBJECTS = 10_000
"""After so many the collector looks at them: about what one search makes. After the 700 that Python begins with, it
looks some fifteen times a search, and each hundredth time at everything; that is 3 ms of 95 of 100 searches.
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
