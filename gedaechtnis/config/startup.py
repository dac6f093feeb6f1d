"""The end of starting a process that stays."""

from __future__ import annotations

import gc

from gedaechtnis.common import lexemes
from gedaechtnis.memory import ports


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
