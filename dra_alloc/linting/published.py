"""
What slices publish: the devices as selectors read them, the names in each domain, and who is a candidate for what.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from dra_alloc import cel
from dra_alloc.api import DeviceClass, ResourceSlice
from dra_alloc.cluster.settings import Settings
from dra_alloc.scenario.selecting import environment_for, prepared_devices
from dra_alloc.work import BudgetExhausted


class PublishedDevice(NamedTuple):
    """A device as it stands in a slice, and as selectors read it."""

    driver: str
    wire: Any
    seen: cel.CelDevice


@dataclass(frozen=True, slots=True)
class LetThrough:
    """
    The devices that selectors let through, and, by selector, on how many it fails with the first error and device.

    `exact` is False where a selector does not compile, or no work was left for it: nothing is known then.
    """

    devices: tuple[PublishedDevice, ...]
    failures: Mapping[str, tuple[int, str, PublishedDevice]] = field(default_factory=dict)
    exact: bool = True


class Published:
    """What the slices of a cluster publish, and its classes."""

    def __init__(self, slices: Iterable[ResourceSlice], classes: Iterable[DeviceClass], settings: Settings) -> None:
        self._slices = tuple(slices)
        self.classes = {each.metadata.name or "": each for each in classes}
        self._settings = settings
        self._known: dict[tuple[str, ...], LetThrough] = {}
        self._programs: dict[str, cel.Program | None] = {}
        self._values: dict[tuple[str, cel.Read], tuple[str, ...]] = {}

    @cached_property
    def environment(self) -> cel.Environment:
        """What selectors are compiled in: kube-scheduler's environment."""
        return environment_for(self._settings, "stored")

    @cached_property
    def devices(self) -> tuple[PublishedDevice, ...]:
        """All devices that the release can read, in the order of the slices."""
        if not self._slices:
            return ()
        reading = self.environment.reading
        return tuple(
            PublishedDevice(each.spec.driver, wire, seen)
            for each in self._slices
            for wire, (_, seen) in zip(each.spec.devices, prepared_devices([each], reading), strict=True)
            if not seen.problem
        )

    @cached_property
    def attributes(self) -> Mapping[str, Mapping[str, frozenset[str]]]:
        """The types of each attribute by domain and name."""
        return self._names("attributes")

    @cached_property
    def capacity(self) -> Mapping[str, Mapping[str, frozenset[str]]]:
        """The capacities by domain and name, all quantities."""
        return self._names("capacity")

    def _names(self, member: str) -> Mapping[str, Mapping[str, frozenset[str]]]:
        found: dict[str, dict[str, set[str]]] = {}
        for device in self.devices:
            for domain, names in getattr(device.seen, member).items():
                known = found.setdefault(domain, {})
                for name in names:
                    known.setdefault(name, set()).add(type_of(dict.get(names, name)))
        return {domain: {name: frozenset(each) for name, each in names.items()} for domain, names in found.items()}

    def program(self, expression: str) -> cel.Program | None:
        """Return the program of a selector, or None if it does not compile."""
        if expression not in self._programs:  # environments keep fewer than a folder may have
            try:
                self._programs[expression] = self.environment.compile(expression)
            except cel.CompileError:
                self._programs[expression] = None
        return self._programs[expression]

    def values(self, class_name: str, read: cel.Read) -> tuple[str, ...]:
        """Return what stands where a selector reads, on the devices of a class, in words."""
        key = class_name, read
        if key not in self._values:
            member = "attributes" if read.kind == "attribute" else "capacity"
            of_class = self.of_class(class_name)
            domains = (getattr(each.seen, member) for each in of_class.devices) if of_class is not None else ()
            found = (names[read.domain] for names in domains if read.domain in names)
            self._values[key] = tuple(
                dict.fromkeys(str(dict.get(names, read.name)) for names in found if read.name in names)
            )
        return self._values[key]

    def of_class(self, name: str) -> LetThrough | None:
        """Return the devices of a class, or None if it is not known."""
        of_class = self.classes.get(name)
        if of_class is None:
            return None
        return self.candidates([each.cel.expression for each in of_class.spec.selectors if each.cel])

    @cached_property
    def domains(self) -> frozenset[str]:
        """The domains that somebody publishes names in, and those of drivers."""
        return frozenset({*self.attributes, *self.capacity, *(device.driver for device in self.devices)})

    def candidates(self, *stages: Sequence[str]) -> LetThrough:
        """Return the devices that pass selectors, those of a class first; the failures are those of the last stage."""
        done: tuple[str, ...] = ()
        found = LetThrough(self.devices)
        for stage in stages:
            before, done = found, (*done, "", *stage)
            if done not in self._known:
                self._known[done] = self._passed(before, stage)
            found = self._known[done]
        return found

    def _passed(self, before: LetThrough, expressions: Sequence[str]) -> LetThrough:
        devices, failures = before.devices, dict[str, tuple[int, str, PublishedDevice]]()
        exact = before.exact
        for expression in expressions:
            program = self.program(expression)
            if program is None:
                exact = False
                continue
            left = []
            for number, device in enumerate(devices):
                try:
                    if program.matches(device.seen):
                        left.append(device)
                except BudgetExhausted:
                    exact = False
                    left += devices[number:]
                    break
                except cel.EvaluationError as error:
                    count, text, first = failures.get(expression, (0, error.text, device))
                    failures[expression] = count + 1, text, first
            devices = tuple(left)
        return LetThrough(devices, failures, exact)


def type_of(value: Any) -> str:
    """Return the type of an attribute's value as selectors read it."""
    if isinstance(value, tuple):
        return f"list of {type_of(value[0])}" if value else "list"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int"
    if isinstance(value, str):
        return "string"
    return {"CelSemver": "version", "CelQuantity": "quantity"}.get(type(value).__name__, "unreadable")
