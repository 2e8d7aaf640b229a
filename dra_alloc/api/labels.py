"""
Label selectors, read once and then asked of many objects.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from dra_alloc.api.meta import LabelSelector

#: The label by which each namespace has its own name.
NAMESPACE_NAME: Final = "kubernetes.io/metadata.name"

#: A label's key, an operator, and the values it is held against.
Requirement = tuple[str, str, frozenset[str]]
_Test = Callable[[str | None, frozenset[str]], bool]


@dataclass(frozen=True, slots=True)
class LabelTest:
    """
    Requirements of which all must hold.

    None at all select everything, which is not the same as the selector that
    is absent: that one selects `nothing`.
    """

    requirements: tuple[Requirement, ...] = ()
    nothing: bool = False

    def __str__(self) -> str:
        """Return the requirements as kubectl would take them."""
        return "nothing" if self.nothing else ",".join(itertools.starmap(_said, self.requirements)) or "any labels"

    @property
    def empty(self) -> bool:
        """Return whether it selects everything because it asks for nothing."""
        return not self.requirements and not self.nothing

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Return whether it selects an object of these labels."""
        if self.nothing:
            return False
        return all(_TESTS[operator](labels.get(key), values) for key, operator, values in self.requirements)


def _said(key: str, operator: str, values: frozenset[str]) -> str:
    if operator in ("In", "NotIn"):
        equal, among = ("=", " in ") if operator == "In" else ("!=", " notin ")
        return f"{key}{equal}{next(iter(values))}" if len(values) == 1 else f"{key}{among}({','.join(sorted(values))})"
    return key if operator == "Exists" else f"!{key}"


NOTHING: Final = LabelTest(nothing=True)
_TESTS: Final[Mapping[str, _Test]] = {
    "In": lambda value, wanted: value in wanted,
    "NotIn": lambda value, wanted: value not in wanted,
    "Exists": lambda value, _: value is not None,
    "DoesNotExist": lambda value, _: value is None,
}


def selector_of(given: LabelSelector | None, more: Iterable[Requirement] = ()) -> LabelTest:
    """
    Return what a label selector stands for, with requirements added.

    One that is absent, or has an operator that there is not, selects nothing.
    """
    if given is None:
        return NOTHING
    requirements: list[Requirement] = [(key, "In", frozenset([value])) for key, value in given.match_labels.items()]
    for each in given.match_expressions:
        if each.operator not in _TESTS:
            return NOTHING
        requirements.append((each.key, each.operator, frozenset(each.values)))
    return LabelTest((*requirements, *more))
