"""
Code for calls: operands evaluated, then the function that answers.

Spec: CEL-12, CEL-19
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dra_alloc.cel.errors import CelError
from dra_alloc.cel.plan.frame import Code, Failed, Frame, Run
from dra_alloc.cel.values.runtime import NO_SUCH_OVERLOAD, Optional


def once(call: Callable[..., Any], values: list[Any]) -> Run:
    """A call of constants: every function is pure, so the first answer or failure serves for good."""
    kept: list[Any] = []

    def run_once(frame: Frame) -> Any:
        if not kept:
            try:
                kept.append(call(*values))
            except CelError as error:
                kept.append(Failed(error))
        answer = kept[0]
        if type(answer) is Failed:
            raise CelError(answer.error.text)
        return answer

    return run_once


def apply(call: Callable[..., Any], operands: list[Code]) -> Run:
    """A call of operands that are evaluated from left to right, the first that fails being the outcome."""
    first = operands[0].run if operands else None
    if first is not None and len(operands) == 1:
        return lambda frame: call(first(frame))
    if first is not None and len(operands) == 2:
        second, value = operands[1].run, operands[1].value
        return (
            (lambda frame: call(first(frame), value))
            if operands[1].constant
            else (lambda frame: call(first(frame), second(frame)))
        )
    parts = tuple([each.run for each in operands])
    return lambda frame: call(*[part(frame) for part in parts])


def either_optional(operands: list[Code], *, unwrap: bool, strict: bool) -> Run:
    """``or``, or ``orValue`` that also takes the content out; `strict` refuses what is no optional."""
    left, right = operands[0].run, operands[1].run

    def either(frame: Frame) -> Any:
        value = left(frame)
        if not isinstance(value, Optional):
            if strict:
                raise CelError(NO_SUCH_OVERLOAD)
            return value
        if value.present:
            return value.get() if unwrap else value
        return right(frame)

    return either
