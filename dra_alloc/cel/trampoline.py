"""
Recursion without the stack.

Expressions may nest some 1,500 levels deep and the host's stack is not ours
to use up: functions that follow the syntax tree are generators that yield the
calls they would make, and :func:`run` keeps their stack on the heap. Every
`STRIDE` levels suffice: in between ``yield from`` is cheaper.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Final, TypeVar

_T = TypeVar("_T")

#: How many levels of a tree are followed on Python's stack before the next goes to the heap.
STRIDE: Final = 8

Steps = Generator["Steps[Any]", Any, _T]
"""A generator that yields further steps, is sent their results, and returns a result."""


def run(first: Steps[_T]) -> _T:
    """The result of `first`, with every call it yields carried out on a heap-allocated stack."""
    stack: list[Steps[Any]] = []
    current: Steps[Any] = first
    value: Any = None
    failed: Exception | None = None
    while True:
        try:
            call = current.send(value) if failed is None else current.throw(failed)
            failed = None
        except StopIteration as done:
            value, failed = done.value, None
            if not stack:
                result: _T = value
                return result
            current = stack.pop()
        except Exception as error:
            if not stack:
                raise
            failed = error
            current = stack.pop()
        else:
            stack.append(current)
            current = call
            value = None
