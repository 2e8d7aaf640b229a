"""
``find`` and ``findAll``: the text a pattern matches.

A constant pattern is compiled with the selector; what is wrong with it is then
a compile error and its run-time complaints lose their details.

Spec: CEL-54
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from dra_alloc.cel.check.declarations import Cost, Function, Library, Overload
from dra_alloc.cel.check.types import INT, list_of
from dra_alloc.cel.check.types import STRING as STRING_TYPE
from dra_alloc.cel.count.costs import ONE, PATTERN, STRING, Range, plain_size, share
from dra_alloc.cel.errors import CelAbort, CelError
from dra_alloc.cel.library.budget import LIMIT_EXCEEDED
from dra_alloc.cel.library.text import subject
from dra_alloc.cel.values.regex import compiled, compiled_bytes
from dra_alloc.cel.values.runtime import NO_SUCH_OVERLOAD

if TYPE_CHECKING:
    from dra_alloc.cel.count.estimate import Estimator
    from dra_alloc.cel.count.operands import CallEstimate, Operand

#: Bytes that repeated searches may look at; a pattern such as ``a.*b|a`` sees the whole rest every time.
_MAX_SEEN: Final = 100_000_000
#: Characters of a pattern and a text whose match is worth remembering.
_SHORT: Final = 512


def _pattern(pattern: str) -> Any:
    try:
        return compiled(pattern)
    except CelError as error:
        raise CelError(f"Illegal regex: {error.text}") from None


def _first(pattern: str, text: str) -> str:
    return _remembered(pattern, text) if len(pattern) + len(text) <= _SHORT else _search(pattern, text)


def _search(pattern: str, text: str) -> str:
    match = _pattern(pattern).search(text)
    found: str = "" if match is None else match.group()
    return found


# Nested loops ask the same few short texts up to the cost limit; the engine's call costs far more than a look-up.
_remembered = lru_cache(maxsize=1024)(_search)


def _find(text: str, pattern: str) -> str:
    return _first(pattern, text)


def _find_all(text: str, pattern: str, limit: int = -1) -> tuple[str, ...]:
    _pattern(pattern)
    return _all(pattern, text, limit)


def _all(pattern: str, text: str, limit: int) -> tuple[str, ...]:
    """The matches from left to right, at most `limit` unless negative; none is empty where another ended."""
    # On bytes: each search of a str would convert it anew.
    search = compiled_bytes(pattern).search
    raw = text.encode()
    found: list[str] = []
    position, before, seen = 0, -1, 0
    while len(found) != limit and position <= len(raw):
        seen += len(raw) - position
        if seen > _MAX_SEEN:
            raise CelAbort(LIMIT_EXCEEDED)
        match = search(raw, position)
        if match is None:
            break
        start, end = match.span()
        if start != end or start != before:
            found.append(raw[start:end].decode())
        before = end
        position = end if end > position else _next_character(raw, end)
    return tuple(found)


def _next_character(raw: bytes, position: int) -> int:
    position += 1
    while position < len(raw) and raw[position] & 0xC0 == 0x80:
        position += 1
    return position


def _find_constant(constants: Mapping[int, Any]) -> Callable[..., Any] | None:
    if type(constants.get(1)) is not str:
        return None
    compiled(constants[1])

    def run(text: Any, pattern: Any) -> str:
        return _first(pattern, subject(text))

    return run


def _find_all_constant(constants: Mapping[int, Any]) -> Callable[..., Any] | None:
    if type(constants.get(1)) is not str:
        return None
    compiled(constants[1])

    def run(text: Any, pattern: Any, limit: Any = -1) -> tuple[str, ...]:
        if type(limit) is not int:
            raise CelError(NO_SUCH_OVERLOAD)
        return _all(pattern, subject(text), limit)

    return run


def _actual(args: Sequence[Any], result: Any) -> int:
    return share(plain_size(args[0]) + 1, STRING) * share(plain_size(args[1]), PATTERN)


def _estimate(estimator: Estimator, target: Operand | None, args: Sequence[Operand]) -> CallEstimate | None:
    if target is None:
        return None
    size = estimator.size(target)
    searched = size.plus(ONE).scaled(STRING).times(estimator.size(args[0]).scaled(PATTERN))
    return estimator.call(searched, Range(0, size.high))


_SEARCH: Final = Cost(_actual, _estimate)

REGEX_LIBRARY: Final = Library(
    "kubernetes.regex",
    functions=(
        Function(
            "find",
            (Overload("string_find_string", (STRING_TYPE, STRING_TYPE), STRING_TYPE, _find, member=True),),
            cost=_SEARCH,
            prepare=_find_constant,
        ),
        Function(
            "findAll",
            (
                Overload(
                    "string_find_all_string", (STRING_TYPE, STRING_TYPE), list_of(STRING_TYPE), _find_all, member=True
                ),
                Overload(
                    "string_find_all_string_int",
                    (STRING_TYPE, STRING_TYPE, INT),
                    list_of(STRING_TYPE),
                    _find_all,
                    member=True,
                ),
            ),
            cost=_SEARCH,
            prepare=_find_all_constant,
        ),
    ),
)
