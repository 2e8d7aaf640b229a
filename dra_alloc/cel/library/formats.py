"""
Named formats: ``format.uuid()``, ``format.named("uuid")`` and ``.validate(text)``.

Spec: CEL-60
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from dra_alloc.cel.check.declarations import Cost, Function, Library, Overload, Window
from dra_alloc.cel.check.types import STRING as STRING_TYPE
from dra_alloc.cel.check.types import list_of, optional_of, struct
from dra_alloc.cel.count.costs import NOMINAL, PATTERN, STRING, Range, plain_size, share
from dra_alloc.cel.errors import CelError
from dra_alloc.cel.library import format_rules as rules
from dra_alloc.cel.values.runtime import NO_SUCH_OVERLOAD, NONE, Optional
from dra_alloc.releases import Span

if TYPE_CHECKING:
    from dra_alloc.cel.count.estimate import Estimator
    from dra_alloc.cel.count.operands import CallEstimate, Operand

FORMAT: Final = struct("kubernetes.NamedFormat")
#: What a format whose pattern is not known is estimated at.
_LARGEST_PATTERN: Final = 128


class CelFormat:
    """
    A named format; `check` returns what is wrong with a text.

    `pattern_size` is what a check is charged by.
    """

    __slots__ = ("check", "name", "pattern_size")
    cel_type = FORMAT
    go_type = "cel.Format"
    go_hashable = False

    def __init__(self, name: str, check: Callable[[str], Sequence[str]], pattern_size: int) -> None:
        self.name = name
        self.check = check
        self.pattern_size = pattern_size

    def __str__(self) -> str:
        return self.name

    def cel_equal(self, other: Any) -> bool:
        """Whether both are the same format; raises CelError if `other` is none."""
        if not isinstance(other, CelFormat):
            raise CelError(NO_SUCH_OVERLOAD)
        return self.name == other.name


def _formats(bytes_limit: bool) -> dict[str, CelFormat]:
    """All formats; from 1.35 on length limits are in bytes and say so."""
    words = rules.BYTES if bytes_limit else rules.CHARACTERS
    made = (
        CelFormat("dns1123Label", rules.dns1123_label, 30),
        CelFormat("dns1123LabelPrefix", rules.prefix(rules.dns1123_label), 30),
        CelFormat("dns1123Subdomain", rules.dns1123_subdomain, 60),
        CelFormat("dns1123SubdomainPrefix", rules.prefix(rules.dns1123_subdomain), 60),
        CelFormat("dns1035Label", rules.dns1035_label, 30),
        CelFormat("dns1035LabelPrefix", rules.prefix(rules.dns1035_label), 30),
        CelFormat("qualifiedName", rules.qualified_name(words), 60),
        CelFormat("labelValue", rules.label_value(words), 40),
        CelFormat("uri", rules.uri, 1102),
        CelFormat("uuid", rules.uuid, 70),
        CelFormat("byte", rules.base64, 84),
        CelFormat("date", rules.date, 72),
        CelFormat("datetime", rules.datetime, 72),
    )
    return {each.name: each for each in made}


_OLD, _NEW = _formats(bytes_limit=False), _formats(bytes_limit=True)
_UNTIL_134, _FROM_135 = Window(span=Span(end="1.35")), Window(span=Span("1.35"))


def _named(known: dict[str, CelFormat]) -> Callable[[str], Optional]:
    def run(name: str) -> Optional:
        found = known.get(name)
        return NONE if found is None else Optional(found)

    return run


def _validate(value: CelFormat, text: str) -> Optional:
    problems = value.check(text)
    return Optional(tuple(problems)) if problems else NONE


def _actual(args: Sequence[Any], result: Any) -> int:
    if not isinstance(args[0], CelFormat):
        return 1
    return share(plain_size(args[1]) + 1, STRING) * share(args[0].pattern_size, PATTERN)


def _estimate(estimator: Estimator, target: Operand | None, args: Sequence[Operand]) -> CallEstimate | None:
    if target is None:
        return None
    pattern = share(_LARGEST_PATTERN, PATTERN)
    return estimator.call(estimator.size(args[0]).scaled(STRING).times(Range(pattern, pattern)))


def _constant(name: str) -> Function:
    overloads = (
        Overload(f"format.{name}", (), FORMAT, lambda: _OLD[name], window=_UNTIL_134),
        Overload(f"format.{name}", (), FORMAT, lambda: _NEW[name], window=_FROM_135),
    )
    return Function(f"format.{name}", overloads, cost=NOMINAL)


FORMAT_LIBRARY: Final = Library(
    "kubernetes.format",
    functions=(
        *(_constant(name) for name in _NEW),
        Function(
            "format.named",
            (
                Overload("format-named", (STRING_TYPE,), optional_of(FORMAT), _named(_OLD), window=_UNTIL_134),
                Overload("format-named", (STRING_TYPE,), optional_of(FORMAT), _named(_NEW), window=_FROM_135),
            ),
            cost=NOMINAL,
        ),
        Function(
            "validate",
            (
                Overload(
                    "format-validate", (FORMAT, STRING_TYPE), optional_of(list_of(STRING_TYPE)), _validate, member=True
                ),
            ),
            cost=Cost(_actual, _estimate),
        ),
    ),
    window=Window(since=31),
)
