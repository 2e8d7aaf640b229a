"""
Names that lead nowhere and selectors that do not compile, before anything is tried.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dra_alloc import cel
from dra_alloc.api import DeviceClaim, DeviceSelector, DeviceSubRequest, ExactDeviceRequest
from dra_alloc.cluster.settings import Settings
from dra_alloc.errors import Problem, Where, first_few, in_brief, shortened
from dra_alloc.limits import CEL_SELECTOR_MAX_COST, CEL_SELECTOR_MAX_LENGTH
from dra_alloc.manifest import Documents, validate_object
from dra_alloc.pods.workloads.table import NO_MAKERS

__all__ = ["KnownNames", "reference_problems"]


@dataclass(frozen=True)
class KnownNames:
    """What names and selectors are held against; without classes, class names are not looked up."""

    settings: Settings
    classes: Collection[str] | None

    @cached_property
    def environment(self) -> cel.Environment:
        """What selectors of new objects may say."""
        gates = self.settings.effective_gates()
        return cel.environment(
            self.settings.profile().release,
            mode="new",
            list_attributes=gates.get("DRAListTypeAttributes", False),
            consumable_capacity=gates.get("DRAConsumableCapacity", False),
        )


#: An object and a problem with it, of which the path alone is known.
_Found = tuple[Any, Problem]


def reference_problems(manifests: Documents, known: KnownNames) -> list[Problem]:
    """
    Return what the API server would refuse in the manifests' own objects, and every unknown class.

    Selectors are checked in the environment for new objects, with their cost.
    """
    return manifests.placed((*_refused(manifests), *_led_nowhere(manifests, known)))


def _led_nowhere(manifests: Documents, known: KnownNames) -> Iterator[_Found]:
    for claim in manifests.claims:
        yield from ((claim, each) for each in _claim(claim.spec.devices, "spec.devices", known))
    for template in manifests.templates:
        yield from ((template, each) for each in _claim(template.spec.spec.devices, "spec.spec.devices", known))
    for device_class in manifests.classes:
        yield from ((device_class, each) for each in _selectors(device_class.spec.selectors, "spec", known))


def _refused(manifests: Documents) -> Iterator[_Found]:
    for item in (
        *manifests.claims,
        *manifests.templates,
        *manifests.classes,
        *manifests.slices,
        *manifests.taint_rules,
        *manifests.pods,
        *(each for each in manifests.workloads if (each.group, each.kind) not in NO_MAKERS),
    ):
        yield from ((item, problem) for problem in validate_object(item))


def _claim(devices: DeviceClaim, path: str, known: KnownNames) -> Iterator[Problem]:
    for number, request in enumerate(devices.requests):
        at = f"{path}.requests[{number}]"
        if request.exactly is not None:
            yield from _request(request.exactly, f"{at}.exactly", known)
        for index, sub in enumerate(request.first_available):
            yield from _request(sub, f"{at}.firstAvailable[{index}]", known)


def _request(request: ExactDeviceRequest | DeviceSubRequest, path: str, known: KnownNames) -> Iterator[Problem]:
    name = request.device_class_name
    if name and known.classes is not None and name not in known.classes:
        listed = first_few([in_brief(each) for each in sorted(known.classes)])
        hint = f"known classes: {listed}" if listed else "neither the manifests nor the cluster have a DeviceClass"
        yield Problem(f"there is no DeviceClass {shortened(name)!r}", Where(path=f"{path}.deviceClassName"), hint)
    yield from _selectors(request.selectors, path, known)


def _selectors(selectors: tuple[DeviceSelector, ...], path: str, known: KnownNames) -> Iterator[Problem]:
    for number, selector in enumerate(selectors):
        if selector.cel is not None:
            at = Where(path=f"{path}.selectors[{number}].cel.expression")
            problem = _admission_problem(known.environment, selector.cel.expression)
            if problem is not None:
                yield Problem(problem[0], at, problem[1])


def _admission_problem(environment: cel.Environment, expression: str) -> tuple[str, str] | None:
    """Return what the API server says of a new selector, and our hint; None if accepted or too long to look at."""
    if len(expression.encode()) > CEL_SELECTOR_MAX_LENGTH:
        return None  # refused for its length already
    try:
        program = environment.compile(expression)
    except cel.CompileError as error:
        return error.text, error.hint
    if program.max_cost > CEL_SELECTOR_MAX_COST:
        return "too complex, exceeds cost limit", f"its estimated cost is {program.max_cost:,}"
    return None
