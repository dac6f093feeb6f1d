"""The end of starting a process that stays."""

from __future__ import annotations

import gc

from gedaechtnis.common.lexemes import lexemes
from gedaechtnis.memory import ports


def settle() -> None:
    """Load the model and the dictionaries, so that nobody's first question waits, and forked processes share them.

    Then take what was made while starting out of the garbage collector's sight: it lives as long as the process.
    Otherwise every full collection looks at all of it again, a pause of 80 ms in the middle of somebody's request.
    """
    if (model := ports.embedding_model()) is not None:
        model.warm_up()
    lexemes("Bücher books")
    gc.collect()
    gc.freeze()
