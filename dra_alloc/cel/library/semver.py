"""
Semantic versions; build metadata is ignored by every comparison.

Spec: CEL-41, SEM
"""

from __future__ import annotations

from typing import Any, Final

from dra_alloc.api.semver import Semver, SemverError
from dra_alloc.cel.check.declarations import Function, Library, Overload, Window
from dra_alloc.cel.check.types import BOOL, INT, STRING, CelType, struct
from dra_alloc.cel.count.costs import NOMINAL, TRAVERSE_FIRST
from dra_alloc.cel.errors import CelError
from dra_alloc.cel.values.runtime import NO_SUCH_OVERLOAD

SEMVER: Final = struct("kubernetes.Semver")


class CelSemver:
    """A version as a CEL value; upstream's holds slices, so it cannot be looked up in a set."""

    __slots__ = ("version",)
    cel_type = SEMVER
    go_native = "semver.Version"
    go_type = "cel.Semver"
    go_hashable = False

    def __init__(self, version: Semver) -> None:
        self.version = version

    def __str__(self) -> str:
        return str(self.version)

    def cel_equal(self, other: Any) -> bool:
        """Equality without build metadata; raises CelError if `other` is no version."""
        if not isinstance(other, CelSemver):
            raise CelError(NO_SUCH_OVERLOAD)
        return self.version == other.version


def _parse(text: str, normalize: bool = False) -> CelSemver:
    try:
        return CelSemver(Semver.parse_tolerant(text) if normalize else Semver.parse(text))
    except SemverError as error:
        raise CelError(error.message) from None


def _is_semver(text: str, normalize: bool = False) -> bool:
    try:
        _parse(text, normalize)
    except CelError:
        return False
    return True


def _compare(left: CelSemver, right: CelSemver) -> int:
    return left.version.compare(right.version)


def _signed(number: int) -> int:
    return number - 2**64 if number >= 2**63 else number


def _part(name: str, run: Any) -> Function:
    return Function(name, (Overload(f"semver_{name}", (SEMVER,), INT, run, member=True),), cost=NOMINAL)


def _binary(name: str, overload: str, result: CelType, run: Any) -> Function:
    return Function(name, (Overload(overload, (SEMVER, SEMVER), result, run, member=True),), cost=NOMINAL)


SEMVER_LIBRARY: Final = Library(
    "kubernetes.Semver",
    functions=(
        Function(
            "semver",
            (
                Overload("string_to_semver", (STRING,), SEMVER, _parse),
                Overload("string_bool_to_semver", (STRING, BOOL), SEMVER, _parse),
            ),
            cost=TRAVERSE_FIRST,
        ),
        Function(
            "isSemver",
            (
                Overload("is_semver_string", (STRING,), BOOL, _is_semver),
                Overload("is_semver_string_bool", (STRING, BOOL), BOOL, _is_semver),
            ),
            cost=TRAVERSE_FIRST,
        ),
        _binary("isGreaterThan", "semver_is_greater_than", BOOL, lambda left, right: _compare(left, right) > 0),
        _binary("isLessThan", "semver_is_less_than", BOOL, lambda left, right: _compare(left, right) < 0),
        _binary("compareTo", "semver_compare_to", INT, _compare),
        _part("major", lambda value: _signed(value.version.major)),
        _part("minor", lambda value: _signed(value.version.minor)),
        _part("patch", lambda value: _signed(value.version.patch)),
    ),
    window=Window(since=33),
)
