"""
The strings extension, version 2. Positions and sizes count code points.

Spec: CEL-50
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from dra_alloc.api.go_text import ESCAPES
from dra_alloc.cel.check.declarations import BEFORE_029, SINCE_029, Cost, Function, Library, Overload, Window
from dra_alloc.cel.check.types import DYN, INT, CelType, list_of
from dra_alloc.cel.check.types import STRING as STRING_TYPE
from dra_alloc.cel.count.costs import STRING, TRAVERSE_FIRST, UNBOUNDED, Range, plain_size, share, traverse
from dra_alloc.cel.errors import CelError
from dra_alloc.cel.library.budget import check_text
from dra_alloc.cel.library.printed import printed
from dra_alloc.cel.library.string_format import format_text
from dra_alloc.cel.library.string_format_check import format_complaints
from dra_alloc.cel.library.walks import WALK
from dra_alloc.cel.syntax.ast import Literal
from dra_alloc.cel.values.runtime import is_list

if TYPE_CHECKING:
    from dra_alloc.cel.count.estimate import Estimator
    from dra_alloc.cel.count.operands import CallEstimate, Operand

_STRINGS: Final = list_of(STRING_TYPE)
#: Go's unicode.IsSpace.
_SPACE: Final = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_LOWER: Final = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_UPPER: Final = {lower: lower - 32 for lower in range(ord("a"), ord("z") + 1)}
_QUOTED: Final = str.maketrans(ESCAPES)


def _out_of_range(index: int) -> CelError:
    return CelError(f"index out of range: {index}")


def _char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise _out_of_range(index)
    return text[index : index + 1]


def _index_of(text: str, part: str, start: int = 0) -> int:
    if start < 0:
        raise _out_of_range(start)
    return text.find(part, start) if part else min(start, len(text))


def _last_index_of(text: str, part: str, start: int | None = None) -> int:
    if start is None:
        return text.rfind(part)
    if start < 0:
        raise _out_of_range(start)
    if not part:
        return min(start, len(text))
    return text.rfind(part, 0, start + len(part)) if start < len(text) else -1


def _anywhere(position: Callable[..., int]) -> Callable[..., int]:
    """Until cel-go 0.29 the empty string is found at any place asked for, even where there is no text."""

    def run(text: str, part: str, start: int | None = None) -> int:
        if start is None:
            return position(text, part)
        return position(text, part, start) if part else start

    return run


def _substring(text: str, start: int, end: int | None = None) -> str:
    if end is not None and start > end:
        raise CelError(f"invalid substring range. start: {start}, end: {end}")
    for index in (start, len(text) if end is None else end):
        if not 0 <= index <= len(text):
            raise _out_of_range(index)
    return text[start:end]


def _replace(text: str, old: str, new: str, limit: int = -1) -> str:
    found = text.count(old)
    if 0 <= limit < found:
        found = limit
    check_text(len(text) + found * (len(new) - len(old)))
    return text.replace(old, new, found)


def _split(text: str, separator: str, limit: int = -1) -> tuple[str, ...]:
    if limit == 0:
        return ()
    if separator:
        return tuple(text.split(separator, limit - 1 if limit > 0 else -1))
    if 0 < limit < len(text):
        return (*text[: limit - 1], text[limit - 1 :])
    return tuple(text)


def _join(parts: Any, separator: str = "") -> str:
    check_text(len(parts))
    texts = list(parts)
    for each in texts:
        if type(each) is not str:
            raise CelError(f"join: invalid input: {printed(each)}")
    check_text(_joined_size(texts, separator))
    return separator.join(texts)


def _joined_size(texts: Sequence[str], separator: str) -> int:
    return sum(map(len, texts)) + len(separator) * max(len(texts) - 1, 0)


def _quote(text: str) -> str:
    return f'"{text.translate(_QUOTED)}"'


# Costs


def _scan_twice(args: Sequence[Any], result: Any) -> int:
    return share(plain_size(args[0]), 2 * STRING)


def _replace_estimate(estimator: Estimator, target: Operand | None, args: Sequence[Operand]) -> CallEstimate | None:
    if target is None:
        return None
    text, old, new = estimator.size(target), estimator.size(args[0]), estimator.size(args[1])
    return estimator.call(text.scaled(2 * STRING), Range(_least_left(text, old, new), _most_left(text, old, new)))


def _most_left(text: Range, old: Range, new: Range) -> int:
    """The longest result: the smallest thing replaced by the largest, as often as it fits in."""
    if old.low == 0:
        return min(text.high + (text.high + 1) * new.high, UNBOUNDED)
    if new.high <= old.low:
        return text.high
    return min(-(-text.high // old.low) * new.high, UNBOUNDED)


def _least_left(text: Range, old: Range, new: Range) -> int:
    """The shortest result: the largest thing replaced by the smallest; nothing is found around every character."""
    if old.high == 0:
        return min(text.low + (text.low + 1) * new.low, UNBOUNDED)
    if new.low >= old.high:
        return text.low
    return min(-(-text.low // old.high) * new.low, UNBOUNDED)


def _split_estimate(estimator: Estimator, target: Operand | None, args: Sequence[Operand]) -> CallEstimate | None:
    if target is None:
        return None
    text = estimator.size(target)
    most = text.high
    node = args[1].node if len(args) > 1 else None
    if isinstance(node, Literal) and type(node.value) is int:
        # Upstream takes the limit as unsigned: -1 is no bound at all.
        most = node.value % 2**64
    return estimator.call(text.scaled(2 * STRING), Range(0, most))


def _join_actual(args: Sequence[Any], result: Any) -> int:
    separator = args[1] if len(args) > 1 else ""
    if is_list(args[0]):
        check_text(len(args[0]))
    parts = list(args[0]) if is_list(args[0]) else [None]
    if type(separator) is not str or any(type(each) is not str for each in parts):
        return 1
    return share(_joined_size([str(each) for each in parts], separator), 2 * STRING)


def _join_estimate(estimator: Estimator, target: Operand | None, args: Sequence[Operand]) -> CallEstimate | None:
    if target is None:
        return None
    count = estimator.size(target)
    element = estimator.element(target) if target.type.kind == "list" else None
    size = Range(0, 0) if element is None else count.times(estimator.size(element))
    if args:
        between = Range(max(count.low - 1, 0), max(count.high - 1, 0))
        size = size.plus(between.times(estimator.size(args[0])))
    return estimator.call(size.scaled(STRING), size)


def _quote_estimate(estimator: Estimator, target: Operand | None, args: Sequence[Operand]) -> CallEstimate:
    size = estimator.size(args[0])
    # Up to 1.37 upstream's arithmetic wraps around: what is unbounded ends up empty.
    return estimator.call(estimator.share(size, 10), estimator.grown(size.low + 2, 2 * size.high + 2))


def _format_estimate(estimator: Estimator, target: Operand | None, args: Sequence[Operand]) -> CallEstimate | None:
    return None if target is None else estimator.call(estimator.share(estimator.size(target), 10))


_COPY: Final = traverse(STRING, sized=True)
_REPLACE: Final = Cost(_scan_twice, _replace_estimate)
_SPLIT: Final = Cost(_scan_twice, _split_estimate)
_JOIN: Final = Cost(_join_actual, _join_estimate)
_FORMAT: Final = Cost(TRAVERSE_FIRST.actual, _format_estimate)
_QUOTE: Final = Cost(lambda args, result: share(plain_size(args[0]), STRING), _quote_estimate)


def _member(
    name: str, result: CelType, cost: Cost | None, *overloads: tuple[str, tuple[CelType, ...], Any]
) -> Function:
    declared = tuple(
        Overload(identifier, (STRING_TYPE, *params), result, run, member=True) for identifier, params, run in overloads
    )
    return Function(name, declared, cost=cost)


def _positions(name: str, identifier: str, position: Callable[..., int]) -> Function:
    shapes = ((identifier, (STRING_TYPE, STRING_TYPE)), (f"{identifier}_int", (STRING_TYPE, STRING_TYPE, INT)))
    runs = ((_anywhere(position), BEFORE_029), (position, SINCE_029))
    overloads = tuple(
        Overload(each, params, INT, run, member=True, window=window) for each, params in shapes for run, window in runs
    )
    return Function(name, overloads, cost=WALK)


STRINGS_LIBRARY: Final = Library(
    "strings",
    functions=(
        _member("charAt", STRING_TYPE, None, ("string_char_at_int", (INT,), _char_at)),
        _positions("indexOf", "string_index_of_string", _index_of),
        Function(
            "join",
            (
                Overload("list_join", (_STRINGS,), STRING_TYPE, _join, member=True),
                Overload("list_join_string", (_STRINGS, STRING_TYPE), STRING_TYPE, _join, member=True),
            ),
            cost=_JOIN,
        ),
        _positions("lastIndexOf", "string_last_index_of_string", _last_index_of),
        _member("lowerAscii", STRING_TYPE, _COPY, ("string_lower_ascii", (), lambda text: text.translate(_LOWER))),
        _member(
            "replace",
            STRING_TYPE,
            _REPLACE,
            ("string_replace_string_string", (STRING_TYPE, STRING_TYPE), _replace),
            ("string_replace_string_string_int", (STRING_TYPE, STRING_TYPE, INT), _replace),
        ),
        _member(
            "split",
            _STRINGS,
            _SPLIT,
            ("string_split_string", (STRING_TYPE,), _split),
            ("string_split_string_int", (STRING_TYPE, INT), _split),
        ),
        _member(
            "substring",
            STRING_TYPE,
            _COPY,
            ("string_substring_int", (INT,), _substring),
            ("string_substring_int_int", (INT, INT), _substring),
        ),
        _member("trim", STRING_TYPE, _COPY, ("string_trim", (), lambda text: text.strip(_SPACE))),
        _member("upperAscii", STRING_TYPE, _COPY, ("string_upper_ascii", (), lambda text: text.translate(_UPPER))),
        Function(
            "format",
            (Overload("string_format", (STRING_TYPE, list_of(DYN)), STRING_TYPE, format_text, member=True),),
            cost=_FORMAT,
            validate=format_complaints,
            variadic=True,
        ),
        Function("strings.quote", (Overload("strings_quote", (STRING_TYPE,), STRING_TYPE, _quote),), cost=_QUOTE),
    ),
    window=Window(since=29),
)
