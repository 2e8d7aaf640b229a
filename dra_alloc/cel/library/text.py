"""
String functions of the standard library.

Spec: CEL-24
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from dra_alloc.cel.check.declarations import ALWAYS, BEFORE_029, SINCE_029, Cost, Function, Library, Overload, Window
from dra_alloc.cel.check.types import BOOL, CelType
from dra_alloc.cel.check.types import STRING as STRING_TYPE
from dra_alloc.cel.count.costs import ONE, PATTERN, STRING, UNBOUNDED, actual_size, share
from dra_alloc.cel.errors import CelError
from dra_alloc.cel.values.regex import compiled
from dra_alloc.cel.values.runtime import NO_SUCH_OVERLOAD, unsupported

if TYPE_CHECKING:
    from dra_alloc.cel.count.estimate import Estimator
    from dra_alloc.cel.count.operands import CallEstimate, Operand

_SUBJECTS_KEPT: Final = 256
_LONGEST_KEPT: Final = 64


def pattern_cost(text: Any, pattern: Any) -> int:
    """What a search costs: one more than the text, times the pattern."""
    cost = share(actual_size(text) + 1, STRING) * share(actual_size(pattern), PATTERN)
    return min(cost, UNBOUNDED)


def pattern_estimate(estimator: Estimator, text: Operand, pattern: Operand) -> Any:
    """The range of :func:`pattern_cost`."""
    walked = estimator.share(estimator.size(text).plus(ONE), 10)
    return walked.times(estimator.share(estimator.size(pattern), 4))


def _search_estimate(estimator: Estimator, target: Operand | None, args: Sequence[Operand]) -> CallEstimate | None:
    text, pattern = args if target is None else (target, args[0])
    return estimator.call(pattern_estimate(estimator, text, pattern))


def _contains_estimate(estimator: Estimator, target: Operand | None, args: Sequence[Operand]) -> CallEstimate | None:
    if target is None:
        return None
    text, part = (estimator.share(estimator.size(each), 10) for each in (target, args[0]))
    return estimator.call(text.times(part))


def _affix_estimate(estimator: Estimator, target: Operand | None, args: Sequence[Operand]) -> CallEstimate:
    # Up to the 1.37 alphas upstream estimated by the argument and counted by the receiver.
    return estimator.call(estimator.share(estimator.size(args[0]), 10))


def _contains_actual(args: Sequence[Any], result: Any) -> int:
    return share(actual_size(args[0]), STRING) * share(actual_size(args[1]), STRING)


_SEARCH: Final = Cost(lambda args, result: pattern_cost(args[0], args[1]), _search_estimate)
_CONTAINS: Final = Cost(_contains_actual, _contains_estimate)
_AFFIX: Final = Cost(lambda args, result: share(actual_size(args[1]), STRING), _affix_estimate)
_AFFIX_BEFORE_37: Final = Cost(lambda args, result: share(actual_size(args[0]), STRING), _affix_estimate)


def _matches(text: Any, pattern: Any) -> bool:
    if type(text) is not str:
        raise unsupported("matches", text)
    if type(pattern) is not str:
        raise CelError(NO_SUCH_OVERLOAD)
    return compiled(pattern).search(text) is not None


def subject(value: Any) -> str:
    """What a constant pattern is searched in: a type counts as its name."""
    if type(value) is CelType:
        return value.name
    if type(value) is not str:
        raise CelError(NO_SUCH_OVERLOAD)
    return value


def _matches_constant(constants: Mapping[int, Any]) -> Callable[..., bool] | None:
    """The search for a constant pattern, compiled once; it words a wrong receiver differently."""
    if type(constants.get(1)) is not str:
        return None
    wanted: str = constants[1]
    compiled(wanted)

    # A fleet has few models: the answers for short texts are worth keeping.
    @lru_cache(maxsize=_SUBJECTS_KEPT)
    def known(text: str) -> bool:
        return _matches(text, wanted)

    def run(text: Any, pattern: Any) -> bool:
        if type(text) is not str:
            text = subject(text)
        return known(text) if len(text) <= _LONGEST_KEPT else _matches(text, wanted)

    return run


def _member(name: str, overload: str, run: Callable[[str, str], bool], *costs: tuple[Cost, Window]) -> Function:
    def checked(text: Any, part: Any) -> bool:
        if type(text) is not str or type(part) is not str:
            raise CelError(NO_SUCH_OVERLOAD)
        return run(text, part)

    params = (STRING_TYPE, STRING_TYPE)
    overloads = tuple(Overload(overload, params, BOOL, member=True, cost=cost, window=when) for cost, when in costs)
    return Function(name, overloads, run=checked)


_AFFIX_COSTS: Final = ((_AFFIX_BEFORE_37, BEFORE_029), (_AFFIX, SINCE_029))

TEXT_LIBRARY: Final = Library(
    "standard strings",
    functions=(
        _member("contains", "contains_string", lambda text, part: part in text, (_CONTAINS, ALWAYS)),
        _member("endsWith", "ends_with_string", str.endswith, *_AFFIX_COSTS),
        _member("startsWith", "starts_with_string", str.startswith, *_AFFIX_COSTS),
        Function(
            "matches",
            (
                Overload("matches", (STRING_TYPE, STRING_TYPE), BOOL, window=BEFORE_029),
                Overload("matches", (STRING_TYPE, STRING_TYPE), BOOL, cost=_SEARCH, window=SINCE_029),
                Overload("matches_string", (STRING_TYPE, STRING_TYPE), BOOL, member=True, cost=_SEARCH),
            ),
            run=_matches,
            prepare=_matches_constant,
        ),
    ),
)
