"""
Code for ``&&``, ``||``, ``?:`` and equality.

Spec: CEL-19, CEL-20
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dra_alloc.cel.errors import CelError
from dra_alloc.cel.plan.frame import Frame, Run
from dra_alloc.cel.values.equality import equal
from dra_alloc.cel.values.runtime import NO_SUCH_OVERLOAD


def connective(terms: Sequence[Run], decisive: bool) -> Run:
    """``&&`` (decisive False) or ``||`` (decisive True) of all terms; errors only count if nothing decides."""
    if len(terms) == 2:
        return _two(terms[0], terms[1], decisive)
    neutral = not decisive

    def run(frame: Frame) -> bool:
        failed: CelError | None = None
        for term in terms:
            try:
                value: object = term(frame)
            except CelError as error:
                failed = failed or error
                continue
            if value is decisive:
                return decisive
            if value is not neutral:
                failed = failed or CelError(NO_SUCH_OVERLOAD)
        if failed is not None:
            raise failed
        return neutral

    return run


def _two(left: Run, right: Run, decisive: bool) -> Run:
    neutral = not decisive

    def run(frame: Frame) -> bool:
        try:
            value: object = left(frame)
        except CelError as error:
            return rescue(frame, error)
        if value is decisive:
            return decisive
        if value is neutral:
            value = right(frame)
            if value is decisive or value is neutral:
                return bool(value)
            raise CelError(NO_SUCH_OVERLOAD)
        return rescue(frame, CelError(NO_SUCH_OVERLOAD))

    def rescue(frame: Frame, failed: CelError) -> bool:
        try:
            value: object = right(frame)
        except CelError:
            raise failed from None
        if value is decisive:
            return decisive
        raise failed

    return run


def conditional(condition: Run, chosen: Run, other: Run) -> Run:
    """``condition ? chosen : other``."""

    def run(frame: Frame) -> Any:
        value = condition(frame)
        if value is True:
            return chosen(frame)
        if value is False:
            return other(frame)
        raise CelError(NO_SUCH_OVERLOAD)

    return run


def not_strictly_false(term: Run) -> Run:
    """False only if `term` is; errors and everything else are true."""

    def run(frame: Frame) -> bool:
        try:
            return term(frame) is not False
        except CelError:
            return True

    return run


def equality(left: Run, right: Run, constant: tuple[bool, Any]) -> Run:
    """``left == right``; `constant` says whether the right side is one, and which."""
    if constant[0] and type(constant[1]) in (str, bool):
        kind, wanted = type(constant[1]), constant[1]

        def fast(frame: Frame) -> bool:
            value = left(frame)
            return bool(value == wanted) if type(value) is kind else equal(value, wanted)

        return fast

    def run(frame: Frame) -> bool:
        value = left(frame)
        return equal(value, right(frame))

    return run


def ordered(left: Run, test: Callable[[Any, Any], bool], wanted: int, otherwise: Callable[..., Any]) -> Run:
    """An ordering of something against an int literal; `otherwise` judges what is no int."""

    def run(frame: Frame) -> Any:
        value = left(frame)
        return test(value, wanted) if type(value) is int else otherwise(value, wanted)

    return run


def not_equal(left: Run, right: Run) -> Run:
    """``left != right``, which means "not known to be equal"."""

    def run(frame: Frame) -> bool:
        value = left(frame)
        other = right(frame)
        try:
            return not equal(value, other)
        except CelError:
            return True

    return run
