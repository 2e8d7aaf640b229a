"""
``x.includes(y)``: membership in a list attribute, equality for any other value.

Spec: CEL-42
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from dra_alloc.cel.check.declarations import CEL_GO_029, Cost, Function, Library, Overload, Window
from dra_alloc.cel.check.types import BOOL, DYN
from dra_alloc.cel.count.costs import ONE, STRING, Range
from dra_alloc.cel.errors import CelError
from dra_alloc.cel.library.walks import WALK
from dra_alloc.cel.values.equality import same
from dra_alloc.cel.values.runtime import is_list
from dra_alloc.releases import Span

if TYPE_CHECKING:
    from dra_alloc.cel.count.estimate import Estimator
    from dra_alloc.cel.count.operands import CallEstimate, Operand

_MAX_VALUES: Final = 48
_LISTS: Final = "DRAListTypeAttributes"


def includes(target: Any, value: Any, limit: int | None = None) -> bool:
    """Whether `target` holds, or is, `value`; raises CelError if more than `limit` elements must be looked at."""
    if not is_list(target):
        return same(target, value)
    for index, element in enumerate(target):
        if limit is not None and index >= limit:
            raise CelError(f"'includes' function cannot be applied to lists longer than {limit} values")
        if same(element, value):
            return True
    return False


def _limited(target: Any, value: Any) -> bool:
    return includes(target, value, _MAX_VALUES)


def _bounded_estimate(estimator: Estimator, target: Operand | None, args: Sequence[Operand]) -> CallEstimate:
    return estimator.call(Range(0, _MAX_VALUES))


def _walk_estimate(estimator: Estimator, target: Operand | None, args: Sequence[Operand]) -> CallEstimate | None:
    if target is None:
        return None
    each = ONE
    element = estimator.element(target)
    if element is not None and element.type.kind in ("string", "bytes"):
        each = each.plus(estimator.size(element).scaled(STRING))
    return estimator.call(estimator.size(target).times(each))


_ALPHA: Final = Overload(
    "dra_includes_dyn_dyn",
    (DYN, DYN),
    BOOL,
    _limited,
    member=True,
    cost=Cost(lambda args, result: 1, _bounded_estimate),
    window=Window(since=36, span=Span("1.36", CEL_GO_029), gate=_LISTS),
)
_BASE: Final = Overload(
    "list_includes_dyn_dyn",
    (DYN, DYN),
    BOOL,
    includes,
    member=True,
    cost=Cost(WALK.actual, _walk_estimate),
    window=Window(since=36, span=Span(CEL_GO_029, "1.38"), gate=_LISTS),
)
#: From here on a function of the lists library, whatever the gate.
_NATIVE: Final = replace(_BASE, window=Window(since=37, span=Span("1.38")))
DRA_LIBRARY: Final = Library("dra", functions=(Function("includes", (_ALPHA, _BASE, _NATIVE)),))
