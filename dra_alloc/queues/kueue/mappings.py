"""
Kueue's deviceClassMappings: under which name, and by what, devices of a class are charged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from dra_alloc.api.names import MAX_SUBDOMAIN, label_key_faults
from dra_alloc.errors import Problem, Where, in_brief
from dra_alloc.pods.workloads.reading import value_at
from dra_alloc.queues.reading import ObjectReading

#: Where they stand in a Configuration.
MAPPINGS: Final = "resources.deviceClassMappings"
_CLASSES_MAX: Final = 8


@dataclass(frozen=True, slots=True)
class Source:
    """Devices are charged by one of their counters or capacities: of a driver's devices that pass `selector`."""

    kind: Literal["counter", "capacity"]
    name: str
    driver: str
    selector: str = ""


@dataclass(frozen=True, slots=True)
class DeviceClassMapping:
    """The resource `name` stands for devices of the classes; without sources for their number."""

    name: str
    classes: tuple[str, ...]
    sources: tuple[Source, ...] = ()


def mappings_of(
    configuration: Mapping[str, Any], path: str = MAPPINGS
) -> tuple[tuple[DeviceClassMapping, ...], tuple[Problem, ...]]:
    """
    Return the mappings of a Configuration as it was written, or of what has them at a `path`, and what is wrong.

    That is what Kueue refuses of them when it starts.

    Spec: KUEUE-10.
    """
    reading = ObjectReading(configuration, [])
    found = [mapping for each in reading.places(path) if (mapping := _mapping(reading, each)) is not None]
    return tuple(found), (*reading.problems, *_twice(found, path))


def _mapping(reading: ObjectReading, at: str) -> DeviceClassMapping | None:
    before = len(reading.problems)
    name = reading.needed(f"{at}.name")
    classes = _classes(reading, f"{at}.deviceClassNames")
    sources = [_source(reading, each) for each in reading.places(f"{at}.sources")]
    if len({each.kind for each in sources if each is not None}) > 1:
        reading.complain(f"{at}.sources", "sources are all counters or all capacities")
    if len(reading.problems) > before:
        return None
    return DeviceClassMapping(name, classes, tuple(each for each in sources if each is not None))


def _classes(reading: ObjectReading, at: str) -> tuple[str, ...]:
    given = reading.given(at, Sequence, "a list") or ()
    if not 1 <= len(given) <= _CLASSES_MAX or not all(isinstance(each, str) for each in given):
        reading.complain(at, f"has to name 1 to {_CLASSES_MAX} device classes")
    classes = [] if isinstance(given, str) else [each for each in given if isinstance(each, str)]
    for number, each in enumerate(classes):
        if len(each) > MAX_SUBDOMAIN:
            reading.complain(f"{at}[{number}]", f"has to be at most {MAX_SUBDOMAIN} characters")
        for fault in label_key_faults(each):
            reading.complain(f"{at}[{number}]", str(fault))
    return tuple(classes)


def _source(reading: ObjectReading, path: str) -> Source | None:
    kinds = [each for each in ("counter", "capacity") if value_at(reading.body, f"{path}.{each}") is not None]
    if len(kinds) != 1:
        reading.complain(path, "has to be one of counter and capacity")
        return None
    kind: Literal["counter", "capacity"] = "counter" if kinds == ["counter"] else "capacity"
    at = f"{path}.{kind}"
    if reading.given(at, Mapping, "an object") is None:
        return None
    name, driver = reading.needed(f"{at}.name"), reading.needed(f"{at}.driver")
    return Source(kind, name, driver, reading.text(f"{at}.deviceSelector.cel.expression"))


def _twice(found: Sequence[DeviceClassMapping], path: str) -> list[Problem]:
    """Return problems of classes in two mappings, which only counters of different names may share."""
    problems = []
    by_class: dict[str, list[DeviceClassMapping]] = {}
    for each in found:
        for name in each.classes:
            by_class.setdefault(name, []).append(each)
    for name, mappings in by_class.items():
        names = [source.name for each in mappings for source in each.sources if source.kind == "counter"]
        apart = all(each.sources and each.sources[0].kind == "counter" for each in mappings)
        if len(mappings) > 1 and not (apart and len(set(names)) == len(names)):
            said = f"class {in_brief(name)} is in two mappings, which only counters of different names may share"
            problems.append(Problem(said, Where(path=path)))
    return problems
