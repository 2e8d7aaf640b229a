"""
Evaluates the CEL selectors of classes and requests on devices, with upstream's error texts.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Final

from dra_alloc.api import DerivedAttribute, DeviceAttribute, DeviceSelector
from dra_alloc.cel import CelDevice, CompileError, EvaluationError, Program, Reading, environment, prepare_device
from dra_alloc.cel.derived import attribute_value, compile_derived
from dra_alloc.problem.devices import DeviceRow, SliceRow
from dra_alloc.problem.requests import Ask
from dra_alloc.profiles import Profile, Trait
from dra_alloc.remembered import Remembered
from dra_alloc.rules import SearchStopped

_HINT = (
    ". consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() "
    "for optional fields"
)


#: Values of derived attributes, and programs, that one profile remembers.
_DERIVED: Final = 1 << 14
_PROGRAMS: Final = 1 << 10
#: Requests of which the selectors are at hand, all of them together.
_MOST_MATCHERS: Final = 1_024


class _Matcher:
    """All selectors of a request; the first of them, as far as they read no more than the driver, once a driver."""

    __slots__ = ("_drivers", "_first", "_others", "by_driver")

    def __init__(self, programs: Sequence[Program]) -> None:
        first = list(takewhile(lambda program: all(each.kind == "driver" for each in program.reads), programs))
        self._first = first
        self._others = tuple(programs[len(first) :])
        self._drivers: dict[str, bool] = {}
        #: Whether nothing but the driver is read.
        self.by_driver = not self._others

    def __call__(self, device: CelDevice) -> bool | None:
        """Return whether all of them are true; None where one of them fails."""
        if device.problem:
            return None
        driver = device.driver
        try:
            chosen = self._drivers.get(driver)
            if chosen is None:
                chosen = self._drivers[driver] = all(program.matches(device) for program in self._first)
            if not chosen:
                return False
            for program in self._others:
                if not program.matches(device):
                    return False
        except EvaluationError:
            return None
        return True


class Selection:
    """
    Compiles selectors when the first device is looked at, and remembers programs; devices remember how they are read.

    One instance serves all nodes and claims of one profile.
    """

    def __init__(self, profile: Profile) -> None:
        self._names_device = profile.shows(Trait.CEL_NAMES_DEVICE)
        self._shares = not profile.shows(Trait.NO_SHARING)
        self._lists = profile.cel_lists
        self._reading = Reading(self._lists, late=not profile.shows(Trait.BROKEN_FAILS_ALL))
        stored = environment(release=profile.release, mode="stored", list_attributes=self._lists)
        self._stored = stored
        self._derived: Remembered[tuple[str, DeviceRow], DeviceAttribute] = Remembered(_DERIVED)
        self._programs: Remembered[str, Program | CompileError] = Remembered(_PROGRAMS)
        self._reader = self._reading, self._shares
        self._matchers: Remembered[int, tuple[Ask, _Matcher | None]] = Remembered(_MOST_MATCHERS)

    def selects(self, ask: Ask, device: DeviceRow, claim: str = "") -> bool:
        """
        Return whether all selectors are true of the device.

        Spec: SEL-1, SEL-2, SEL-3.
        Raises: SearchStopped.
        """
        known = self._matchers.get(id(ask))
        # Requests are kept, so that no others come by the same ids.
        matcher = known[1] if known is not None else self._matcher(ask)
        found = None if matcher is None else matcher(self._device(device))
        return self._first_false(ask, device, claim) is None if found is None else found

    def selects_of(self, ask: Ask, row: SliceRow) -> bool | None:
        """Return whether the selectors are true of all devices of a slice or of none, if they read but the driver."""
        matcher = self._asked_by(ask)
        # Versions, and what is neither text nor number nor boolean, may not be readable: that ends the search.
        if matcher is None or not matcher.by_driver or row.outline.versions or not row.devices:
            return None
        return matcher(self._device(row.devices[0]))

    def by_driver(self, ask: Ask) -> bool:
        """Return whether the selectors read nothing but the driver."""
        matcher = self._asked_by(ask)
        return matcher is not None and matcher.by_driver

    def _asked_by(self, ask: Ask) -> _Matcher | None:
        known = self._matchers.get(id(ask))
        return known[1] if known is not None else self._matcher(ask)

    def _matcher(self, ask: Ask) -> _Matcher | None:
        """Return what asks all selectors at once; None where one of them does not compile."""
        made: _Matcher | None = None
        with contextlib.suppress(CompileError):
            expressions = [each.cel.expression if each.cel is not None else "" for _, _, each in _selectors(ask, "")]
            made = _Matcher([self.program(each) for each in expressions])
        self._matchers.put(id(ask), (ask, made))
        return made

    def explain(self, ask: Ask, device: DeviceRow, claim: str) -> tuple[str, str]:
        """Return a reason code and which selector is not true of the device."""
        failing = self._first_false(ask, device, claim)
        if failing is None:
            return "selector-mismatch", "matches every selector"
        owner, number, expression = failing
        if owner.startswith("class "):
            return "class-mismatch", f"not of {owner}, whose selector {number} is false: {expression}"
        return "selector-mismatch", f"selector {number} is false: {expression}"

    def _first_false(self, ask: Ask, device: DeviceRow, claim: str) -> tuple[str, int, str] | None:
        for owner, number, selector in _selectors(ask, claim):
            expression = selector.cel.expression if selector.cel is not None else ""
            try:
                if not self.program(expression).matches(self._device(device)):
                    return owner, number, expression
            except CompileError as error:
                text = f"{owner}: selector #{number}: CEL compile error: {error.text}"
                raise SearchStopped(text, code="selector-compile-error") from None
            except EvaluationError as error:
                raise SearchStopped(
                    self._runtime_text(owner, number, device, error.text), code="selector-runtime-error"
                ) from None
        return None

    def derive(self, attribute: DerivedAttribute, device: DeviceRow) -> DeviceAttribute:
        """
        Return the value of a derived attribute.

        Spec: DERIVED-4, DERIVED-5, DERIVED-6.
        Raises: SearchStopped.
        """
        key = attribute.expression, device
        found = self._derived.get(key)
        if found is not None:
            return found
        try:
            program = compile_derived(self._stored, attribute.expression)
        except CompileError as error:
            text = f"compile derived attribute {attribute.name} failed: {error.text}"
            raise SearchStopped(text, code="derived-attribute") from None
        try:
            found = self._derived.put(key, attribute_value(program, self._device(device)))
        except EvaluationError as error:
            text = f"evaluate derived attribute {attribute.name} on device {device.key} failed: {error.text}"
            raise SearchStopped(text, code="derived-attribute") from None
        return found

    def _runtime_text(self, owner: str, number: int, device: DeviceRow, text: str) -> str:
        if not self._names_device:
            return f"{owner}: selector #{number}: CEL runtime error: {text}"
        hint = _HINT if "no such key:" in text else ""
        return f"{owner}: selector #{number} on device {device.key}: CEL runtime error: {text}{hint}"

    def program(self, expression: str) -> Program:
        """
        Return the compiled selector.

        Raises: CompileError.
        """
        known = self._programs.get(expression)
        if known is None:
            try:
                known = self._stored.compile(expression)
            except CompileError as error:
                known = error
            self._programs.put(expression, known)
        if isinstance(known, CompileError):
            # A fresh one: what is raised again and again gathers tracebacks.
            raise CompileError(known.text, known.issues, known.hints)
        return known

    def _device(self, device: DeviceRow) -> CelDevice:
        reader: object
        prepared: CelDevice
        reader, prepared = device.read
        if reader is not self._reader and reader != self._reader:
            capacity = device.capacity
            prepared = prepare_device(
                device.key.driver,
                device.attributes,
                {name: each.value for name, each in capacity.items()},
                device.shareable and self._shares,
                self._reading,
            )
            device.read = self._reader, prepared
        return prepared


def _selectors(ask: Ask, claim: str) -> Iterator[tuple[str, int, DeviceSelector]]:
    owner = f"class {ask.class_name}"
    for number, selector in enumerate(ask.device_class.spec.selectors):
        yield owner, number, selector
    for number, selector in enumerate(ask.wire.selectors):
        yield f"claim {claim}", number, selector
