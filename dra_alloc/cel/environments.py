"""
The environment of a release: which functions, macros, types and variables an expression may use.

*stored* is what the binary knows at all (kube-scheduler), *new* what it lets
a user write today (kube-apiserver): declarations introduced at or before the
compatibility version, gates honoured. Both come from one table.

Spec: CEL-10
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

from dra_alloc.cel.check.declarations import CEL_GO_029, CEL_GO_033, Function, Library, Macro, Overload, Window
from dra_alloc.cel.check.types import ANY, DURATION, DYN, INT, TIMESTAMP, CelType, list_of, map_of, type_of
from dra_alloc.cel.device import Reading, device_type
from dra_alloc.cel.library import LIBRARIES
from dra_alloc.cel.library.messages import MESSAGES, NULL_VALUE
from dra_alloc.errors import InputError
from dra_alloc.releases import Release, parse_release, start_of

Mode = Literal["stored", "new"]
CONSUMABLE_CAPACITY: Final = "DRAConsumableCapacity"
LIST_ATTRIBUTES: Final = "DRAListTypeAttributes"
#: Names the checker takes for types and the planner does not know: those of messages that stand for something else.
UNDEFINED_TYPES: Final = frozenset(("duration", "timestamp", "kubernetes.DRADevice", *MESSAGES)) - {
    each.type.name for each in MESSAGES.values()
}


@dataclass(frozen=True, slots=True)
class EnvironmentKey:
    """
    What distinguishes one environment from another.

    `release` is the first binary that evaluates as the one asked for does.
    `gates` are the gates that are on.
    """

    release: Release
    mode: Mode
    gates: frozenset[str]

    @property
    def reading(self) -> Reading:
        """How devices are read."""
        lists = self._from("1.37") or (self._from("1.36") and LIST_ATTRIBUTES in self.gates)
        return Reading(lists, late=self._from("1.38"))

    @property
    def attribute_type(self) -> CelType:
        """The static type of an attribute value."""
        if self._from("1.37") and self.mode == "stored":
            return DYN
        return DYN if self._from("1.36") and LIST_ATTRIBUTES in self.gates else ANY

    @property
    def quoted_names(self) -> bool:
        """Whether ``.`quoted-name``` is accepted."""
        return self._from(CEL_GO_029)

    @property
    def strict_optionals(self) -> bool:
        """Whether ``or`` and ``orValue`` refuse what is no optional, instead of giving it back."""
        return self._from(CEL_GO_029)

    @property
    def rereads_optionals(self) -> bool:
        """Whether reading a variable takes the content of an optional apart."""
        return not self._from(CEL_GO_029)

    @property
    def optional_type(self) -> str:
        """What the type of an optional is called where a field does not take it."""
        return "optional_type" if self.rereads_optionals else "optional_type(dyn)"

    @property
    def variables_hide_namespaces(self) -> bool:
        """Whether a variable of a macro hides the types whose names begin with it."""
        return self._from("1.37")

    @property
    def wrapped_results(self) -> bool:
        """Whether a selector may result in the message that wraps a bool."""
        return self._from(CEL_GO_029)

    @property
    def stops_at_failure(self) -> bool:
        """Whether calls and literals end with the first part that fails, most of them uncharged."""
        return self._from(CEL_GO_033)

    @property
    def types_hold_types(self) -> bool:
        """Whether the types of two types have to fit each other where a type variable stands in one."""
        return self._from(CEL_GO_033)

    @property
    def weighs_optionals(self) -> bool:
        """Whether an optional is charged by what it holds; it counts 1 otherwise."""
        return not self._from(CEL_GO_033)

    @property
    def walks_empty_texts(self) -> bool:
        """Whether a macro takes an empty text for a list of nothing."""
        return self._from(CEL_GO_033)

    @property
    def nested_sizes(self) -> bool:
        """Whether the static estimate knows the sizes of elements and keys to any depth."""
        return self._from(CEL_GO_033)

    @property
    def undeclared(self) -> str:
        """What follows the name of what nobody declared, in the error."""
        return "" if self._from(CEL_GO_033) else " (in container '')"

    @property
    def suggests_names(self) -> bool:
        """Whether the error of an undeclared name says what it may have meant."""
        return self._from(CEL_GO_033)

    @property
    def rooted_names(self) -> bool:
        """Whether a leading dot skips the variables of macros."""
        return self._from(CEL_GO_029)

    def knows(self, window: Window) -> bool:
        """Whether a declaration with this window exists here."""
        if not window.span.holds(self.release):
            return False
        if self.mode == "stored":
            return True
        return window.since <= self.release.minor - 1 and (not window.gate or window.gate in self.gates)

    def _from(self, release: str) -> bool:
        return self.release >= start_of(release)


class Candidate(NamedTuple):
    """An overload as the checker tries it; `generic` says that it has type parameters."""

    id: str
    params: tuple[CelType, ...]
    result: CelType
    generic: bool


class Match(NamedTuple):
    """The overloads that fit some argument types, their common result, and the type variables it took to find out."""

    overloads: tuple[str, ...]
    result: CelType | None
    variables: int


MatchKey = tuple[str, bool, tuple[CelType, ...]]
_Candidates = Mapping[tuple[str, bool, int], tuple[Candidate, ...]]


@dataclass(frozen=True, slots=True)
class Declarations:
    """
    Everything an expression may refer to, by name; `candidates` by name, member or not, and arity.

    `matches` remembers how calls on types without variables were resolved,
    `answers` what answers a call of some overloads.
    """

    settings: EnvironmentKey
    functions: Mapping[str, Function]
    candidates: _Candidates
    macros: Mapping[tuple[str, int, bool], Macro]
    types: Mapping[str, CelType]
    variables: Mapping[str, CelType]
    fields: Mapping[str, Mapping[str, CelType]]
    matches: dict[MatchKey, Match] = field(default_factory=dict, compare=False, repr=False)
    answers: dict[tuple[str, tuple[str, ...]], Callable[..., Any]] = field(
        default_factory=dict, compare=False, repr=False
    )


def settings(release: str | Release, mode: str, *, list_attributes: bool, consumable_capacity: bool) -> EnvironmentKey:
    """The settings a caller asks for; raises InputError for an unknown release or mode."""
    if mode not in ("stored", "new"):
        raise InputError(f"unknown CEL mode {mode!r}", hint="stored or new")
    parsed = parse_release(release)
    starts = (Release(*parsed.line, 0, 0, 0), start_of(CEL_GO_029))
    first = max(start for start in starts if start <= parsed)
    gates = {LIST_ATTRIBUTES: list_attributes, CONSUMABLE_CAPACITY: consumable_capacity}
    chosen: Mode = "new" if mode == "new" else "stored"
    return EnvironmentKey(first, chosen, frozenset(name for name, on in gates.items() if on))


_FIELDS: Final = {
    name: {field: kind for field, (kind, _) in message.fields.items()} for name, message in MESSAGES.items()
}


@cache
def declarations(chosen: EnvironmentKey) -> Declarations:
    """The declarations these settings leave."""
    known = [library for library in LIBRARIES if chosen.knows(library.window)]
    types = {name: type_of(message.type) for name, message in MESSAGES.items()}
    types |= {"duration": type_of(DURATION), "timestamp": type_of(TIMESTAMP), NULL_VALUE: INT}
    types |= {kind.name: type_of(kind) for library in known for kind in library.types}
    macros = {(each.name, each.arity, each.member): each for library in known for each in library.macros}
    device, fields = device_type(
        chosen.attribute_type, multiple=chosen.mode == "stored" or CONSUMABLE_CAPACITY in chosen.gates
    )
    types[device.name] = type_of(device)
    if chosen.quoted_names:
        types |= {"list": type_of(list_of(DYN)), "map": type_of(map_of(DYN, DYN))}
    functions = _functions(known, chosen)
    return Declarations(
        chosen,
        MappingProxyType(functions),
        MappingProxyType(_candidates(functions)),
        MappingProxyType(macros),
        MappingProxyType(types),
        MappingProxyType({"device": device}),
        MappingProxyType({device.name: fields} | _FIELDS),
    )


def _functions(libraries: list[Library], chosen: EnvironmentKey) -> dict[str, Function]:
    """Functions by name, the overloads of all libraries joined in table order."""
    merged: dict[str, Function] = {}
    for library in libraries:
        for function in library.functions:
            overloads = tuple(each for each in function.overloads if chosen.knows(each.window))
            if not overloads:
                continue
            earlier = merged.get(function.name)
            merged[function.name] = _join(earlier, function, overloads)
    return merged


def _join(earlier: Function | None, function: Function, overloads: tuple[Overload, ...]) -> Function:
    if earlier is None:
        return replace(function, overloads=overloads)
    return Function(
        function.name,
        earlier.overloads + overloads,
        earlier.run or function.run,
        earlier.guarded and function.guarded,
        earlier.cost or function.cost,
        earlier.prepare or function.prepare,
        earlier.validate or function.validate,
    )


def _candidates(functions: Mapping[str, Function]) -> dict[tuple[str, bool, int], tuple[Candidate, ...]]:
    found: dict[tuple[str, bool, int], tuple[Candidate, ...]] = {}
    for function in functions.values():
        for member in (False, True):
            tried = [_candidate(overload) for overload in function.overloads if overload.member is member]
            for arity in {len(each.params) for each in tried}:
                # Upstream makes type variables for generic overloads of any arity, which shows in their numbers.
                kept = (each for each in tried if each.generic or len(each.params) == arity)
                found[function.name, member, arity] = tuple(kept)
    return found


def _candidate(overload: Overload) -> Candidate:
    generic = not all(kind.ground for kind in (*overload.params, overload.result))
    return Candidate(overload.id, overload.params, overload.result, generic)
