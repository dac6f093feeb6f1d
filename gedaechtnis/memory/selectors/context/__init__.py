"""What an agent is told before a run: the facts that bear on a message, as one block of text.

`linker` finds the entities it speaks of (`mentions`: which words could be names; `related`: whom it names by a relation
to them), `events` and `facts` ask one question each, `ranking` orders, `rendering` writes, `builder` does it all.
`keywords` finds facts by words instead of names.
"""

from __future__ import annotations

from gedaechtnis.memory.selectors.context.builder import (
    DEFAULT_BUDGET,
    MAX_TEXT,
    ContextBlock,
    build_context,
    context_for_run,
)

__all__ = ["DEFAULT_BUDGET", "MAX_TEXT", "ContextBlock", "build_context", "context_for_run"]
