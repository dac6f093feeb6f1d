"""What was read is classified by what was learned from it."""

from __future__ import annotations

from collections.abc import Sequence

from gedaechtnis.chat import quotes
from gedaechtnis.memory.schemas import Operation, OperationResult, Outcome


def judge_messages(scope_ref: str, operations: Sequence[Operation], results: Sequence[OperationResult]) -> None:
    """Judge the messages that operations quote, within the open scope.

    One of which an operation was refused is not understood, and stays as it is.
    """
    refs: dict[str, bool] = {}
    for op, result in zip(operations, results, strict=True):
        if op.evidence is not None and op.evidence.ref is not None:
            refs[op.evidence.ref] = refs.get(op.evidence.ref, True) and result.outcome is not Outcome.REJECTED
    for ref, understood in refs.items():
        if understood:
            quotes.judge_message(scope_ref, ref)
