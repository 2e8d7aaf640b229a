"""
Kueue's deviceClassMappings: under which name, and by what, devices of a class are charged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from dra_alloc.api.names import MAX_SUBDOMAIN, label_key_faults
from dra_alloc.errors import Problem, Where, in_brief

__all__ = ["MAPPINGS", "DeviceClassMapping", "Source", "mappings_of"]

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
    Return the mappings of a Configuration as it was written, and what Kueue refuses of them when it starts.

    Spec: KUEUE-10.
    """
    resources = configuration.get("resources")
    given = resources.get("deviceClassMappings") if isinstance(resources, Mapping) else None
    problems: list[Problem] = []
    found = [
        mapping
        for number, each in enumerate(_list(given, path, problems))
        if (mapping := _mapping(each, f"{path}[{number}]", problems)) is not None
    ]
    problems += _twice(found, path)
    return tuple(found), tuple(problems)


def _mapping(given: Any, path: str, problems: list[Problem]) -> DeviceClassMapping | None:
    before = len(problems)
    if not isinstance(given, Mapping):
        problems.append(Problem("has to be an object", Where(path=path)))
        return None
    name = _text(given, "name", path, problems)
    classes = _list(given.get("deviceClassNames"), f"{path}.deviceClassNames", problems)
    if not 1 <= len(classes) <= _CLASSES_MAX or not all(isinstance(each, str) for each in classes):
        said = f"has to name 1 to {_CLASSES_MAX} device classes"
        problems.append(Problem(said, Where(path=f"{path}.deviceClassNames")))
    for number, each in enumerate(classes):
        if isinstance(each, str):
            place = f"{path}.deviceClassNames[{number}]"
            faults = [str(fault) for fault in label_key_faults(each)]
            long = [f"has to be at most {MAX_SUBDOMAIN} characters"] if len(each) > MAX_SUBDOMAIN else []
            problems += [Problem(said, Where(path=place)) for said in (*long, *faults)]
    at = f"{path}.sources"
    sources = [
        _source(each, f"{at}[{number}]", problems)
        for number, each in enumerate(_list(given.get("sources"), at, problems))
    ]
    if len({each.kind for each in sources if each is not None}) > 1:
        problems.append(Problem("sources are all counters or all capacities", Where(path=at)))
    if len(problems) > before:
        return None
    return DeviceClassMapping(name, tuple(classes), tuple(each for each in sources if each is not None))


def _source(given: Any, path: str, problems: list[Problem]) -> Source | None:
    kinds = [each for each in ("counter", "capacity") if isinstance(given, Mapping) and given.get(each) is not None]
    if len(kinds) != 1:
        problems.append(Problem("has to be one of counter and capacity", Where(path=path)))
        return None
    kind: Literal["counter", "capacity"] = "counter" if kinds == ["counter"] else "capacity"
    of, at = given[kind], f"{path}.{kind}"
    if not isinstance(of, Mapping):
        problems.append(Problem("has to be an object", Where(path=at)))
        return None
    selector: Any = of.get("deviceSelector")
    for step in ("cel", "expression"):
        selector = selector.get(step) if isinstance(selector, Mapping) else None
    name, driver = (_text(of, key, at, problems) for key in ("name", "driver"))
    return Source(kind, name, driver, selector if isinstance(selector, str) else "")


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


def _list(given: Any, path: str, problems: list[Problem]) -> Sequence[Any]:
    if given is None:
        return ()
    if isinstance(given, Sequence) and not isinstance(given, str):
        return given
    problems.append(Problem("has to be a list", Where(path=path)))
    return ()


def _text(given: Mapping[str, Any], key: str, path: str, problems: list[Problem]) -> str:
    value = given.get(key)
    if isinstance(value, str) and value:
        return value
    problems.append(Problem("is missing" if value is None else "has to be a text", Where(path=f"{path}.{key}")))
    return ""
