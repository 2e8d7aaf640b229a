"""
Names that lead nowhere and selectors that do not compile, before anything is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, Final

from dra_alloc import cel
from dra_alloc.api import DeviceClaim
from dra_alloc.cel.derived import compile_derived
from dra_alloc.cluster.settings import Settings
from dra_alloc.errors import Problem, Where, first_few, in_brief, shortened
from dra_alloc.limits import CEL_SELECTOR_MAX_COST
from dra_alloc.manifest import Documents, Workload, validate_object
from dra_alloc.manifest.validate.violations import ApiServer, FieldFault
from dra_alloc.pods.workloads.table import NO_MAKERS
from dra_alloc.remembered import Remembered
from dra_alloc.scenario.selecting import environment_for


@dataclass(frozen=True)
class KnownNames:
    """What names and selectors are held against; without classes, class names are not looked up."""

    settings: Settings
    classes: Collection[str] | None


#: Members of `Documents` whose kinds there are rules for.
CHECKED: Final = ("claims", "templates", "classes", "slices", "taint_rules", "pods", "workloads")
_NO_CLASSES: Final = "neither the manifests nor the cluster have a DeviceClass"
#: An object and a problem with it, of which the path alone is known.
_Found = tuple[Any, Problem]


def reference_problems(manifests: Documents, known: KnownNames) -> list[Problem]:
    """
    Return what the API server would refuse in the manifests' own objects, and every unknown class.

    Selectors are checked in the environment for new objects, with their cost.
    """
    settings = known.settings
    unknown = replace(
        manifests, workloads=tuple([each for each in manifests.workloads if not _is_fine(each, settings)])
    )
    refused = list(refusals(unknown, admission(settings)))
    wrong = {id(item) for item, _ in refused}
    for each in unknown.workloads:
        if id(each) not in wrong:
            _FINE.put((id(each), settings), each)
    return manifests.placed((*refused, *_led_nowhere(manifests, known)))


#: Workloads of which nothing is refused, by their ids and settings: clusters before and after a change share them.
_FINE: Final[Remembered[tuple[int, Settings], Workload]] = Remembered(20_000)


def _is_fine(item: Workload, settings: Settings) -> bool:
    return _FINE.get((id(item), settings)) is item


def refusals(
    manifests: Documents, server: ApiServer, before: Callable[[Any], Any] = lambda _: None
) -> Iterator[tuple[Any, FieldFault]]:
    """Yield what the API server would refuse in objects that are created, or take another's place, with the object."""
    for item in (each for member in CHECKED for each in getattr(manifests, member)):
        if has_rules(item):
            place = manifests.places.get(id(item))
            version = place.version if place else "v1"
            yield from ((item, fault) for fault in validate_object(item, server, version, before(item)))


def has_rules(item: Any) -> bool:
    """Return whether there are rules for an object of these members: it makes pods, if it is a workload."""
    return not isinstance(item, Workload) or (item.group, item.kind) not in NO_MAKERS


def admission(settings: Settings, subresource: str = "") -> ApiServer:
    """Return the API server of these settings, with its compiler for new selectors."""
    release, gates = settings.profile().release, settings.effective_gates()
    new, stored = (cache(partial(environment_for, settings, mode)) for mode in ("new", "stored"))
    lists = gates.get("DRAListTypeAttributes", False)
    derive = partial(compile_derived, lists=lists)
    return ApiServer(
        _compiler(new, cel.Environment.compile),
        _compiler(stored, cel.Environment.compile),
        release,
        gates,
        True,
        subresource,
        _compiler(new, derive),
        _compiler(stored, derive),
    )


def _compiler(
    environment: Callable[[], cel.Environment], read: Callable[[cel.Environment, str], cel.Program]
) -> Callable[[str], tuple[str, str, str] | None]:
    """Return what is said of expressions, once of each: workloads by the hundred have the same few."""

    def against(expression: str) -> tuple[str, str, str] | None:
        try:
            program = read(environment(), expression)
        except cel.CompileError as error:
            return "Invalid value", error.text, error.hint
        if program.max_cost > CEL_SELECTOR_MAX_COST:
            return "Forbidden", "too complex, exceeds cost limit", f"its estimated cost is {program.max_cost:,}"
        return None

    return cache(against)


def _led_nowhere(manifests: Documents, known: KnownNames) -> Iterator[_Found]:
    """Yield every class that is named and not known."""
    if known.classes is None:
        return
    asking: list[tuple[Any, DeviceClaim, str]] = []
    asking += [(each, each.spec.devices, "spec.devices") for each in manifests.claims]
    asking += [(each, each.spec.spec.devices, "spec.spec.devices") for each in manifests.templates]
    for item, devices, path in asking:
        for at, _, wanted in devices.asked():
            name = wanted.device_class_name
            if name and name not in known.classes:
                listed = first_few([in_brief(each) for each in sorted(known.classes)])
                known_ones = f"known classes: {listed}" if listed else _NO_CLASSES
                place = Where(path=f"{path}.{at}.deviceClassName")
                yield item, Problem(f"there is no DeviceClass {shortened(name)!r}", place, known_ones)
