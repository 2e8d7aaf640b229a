"""
Devices in files: ResourceSlices, or the devices of one written down by themselves.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final, NamedTuple

from dra_alloc.api import ResourceSlice
from dra_alloc.errors import ManifestError, Problem, in_brief
from dra_alloc.manifest.budget import DEFAULT_BUDGET
from dra_alloc.manifest.kinds import RESOURCE_GROUP, SLICE, Unserved, recognise
from dra_alloc.manifest.make.complaints import Complaints
from dra_alloc.manifest.make.inspection import Flaw
from dra_alloc.manifest.make.objects import make
from dra_alloc.manifest.plain_file import plain_documents
from dra_alloc.manifest.read.inputs import InputBytes, SkippedInput, UnreadableInput, sources
from dra_alloc.manifest.read.paths import Path, tokens
from dra_alloc.manifest.read.raw import RawDocument
from dra_alloc.manifest.read.yaml_reader import EMITTED
from dra_alloc.manifest.validate.objects import validate_object

#: Where a device stands in the slice that is put around it.
_IN_SLICE: Final = 3
_DEVICE_PATH: Final = "spec.devices[0]"
_DRIVER_PATH: Final = "spec.driver"
#: What a device may say besides what it says in a slice.
_OURS: Final = frozenset(("driver",))
_DEVICE_FIELDS: Final = frozenset(("name", "attributes", "capacity", "basic", "driver"))
_HINT: Final = "a device, a list of devices, or a ResourceSlice"


class DeviceFiles(NamedTuple):
    """ResourceSlices, and what the API server would refuse in them or in the devices that stand alone."""

    slices: tuple[ResourceSlice, ...]
    refused: tuple[Problem, ...]


def load_devices(paths: Iterable[str | os.PathLike[str]], *, driver: str = "") -> DeviceFiles:
    """
    Return the ResourceSlices of files, with a slice of its own around each device that stands alone.

    A device that stands alone is what a slice has under ``spec.devices``, and
    may name its ``driver``; else it has the one given. An amount of capacity
    may be written without ``value``. Several devices are a list, a list under
    ``devices``, or documents that follow each other.

    Raises: ManifestError, with every problem of every file.
    """
    problems: list[Problem] = []
    found: list[ResourceSlice] = []
    refused: list[Problem] = []
    for source in sources(list(paths), None, DEFAULT_BUDGET):
        if isinstance(source, UnreadableInput):
            problems.append(source.problem)
            continue
        if isinstance(source, SkippedInput):
            continue  # a folder of manifests may hold anything
        reading = _Reading(source, driver)
        found += reading.slices()
        problems += reading.complaints.resolved(source.data)
        refused += reading.refused.resolved(source.data)
    if problems:
        raise ManifestError(problems)
    return DeviceFiles(tuple(found), tuple(refused))


class _Reading:
    """One file under way."""

    def __init__(self, source: InputBytes, driver: str) -> None:
        self._source = source
        self._driver = driver
        self._count = 0
        self.complaints = Complaints(source.name, DEFAULT_BUDGET.problems_per_file)
        self.refused = Complaints(source.name, DEFAULT_BUDGET.problems_per_file)

    def slices(self) -> list[ResourceSlice]:
        """Return what could be read."""
        found: list[ResourceSlice] = []
        for raw in plain_documents(self._source, DEFAULT_BUDGET, self.complaints):
            found += self._of_document(raw)
        if not found and not self.complaints.entries:
            self.complaints.add_line("no device in this file", None, _HINT)
        return found

    def _of_document(self, raw: RawDocument) -> Iterator[ResourceSlice]:
        value = raw.value
        if value is None:
            return
        if isinstance(value, dict) and isinstance(value.get("items"), list):
            for position, item in enumerate(value["items"]):
                if item is not EMITTED:
                    yield from self._one(raw, item, ("items", position))
            return
        if isinstance(value, dict) and isinstance(value.get("devices"), list) and "kind" not in value:
            for position, item in enumerate(value["devices"]):
                yield from self._one(raw, item, ("devices", position), value.get("driver"))
            return
        if isinstance(value, list):
            for position, item in enumerate(value):
                yield from self._one(raw, item, (position,))
            return
        yield from self._one(raw, value, ())

    def _one(self, raw: RawDocument, value: Any, path: Path, driver: Any = None) -> Iterator[ResourceSlice]:
        """Yield the slice that a value is, or the one around the device that it is."""
        if isinstance(value, dict) and ("kind" in value or "apiVersion" in value):
            yield from self._slice(raw, value, path)
        elif isinstance(value, dict) and _DEVICE_FIELDS & value.keys():
            yield from self._device(raw, value, path, driver)
        else:
            self._wrong(raw, "", Flaw(path, "this is no device", _HINT))

    def _slice(self, raw: RawDocument, value: dict[str, Any], path: Path) -> Iterator[ResourceSlice]:
        api_version, kind = str(value.get("apiVersion", "")), str(value.get("kind", ""))
        try:
            known = recognise(api_version, kind)
        except Unserved as error:
            self._wrong(raw, in_brief(kind), Flaw(path, str(error), error.hint))
            return
        if known is not SLICE:
            self._wrong(raw, "", Flaw(path, f"{in_brief(kind) or 'an object without kind'} holds no devices", _HINT))
            return
        made = make(value, SLICE, api_version.rpartition("/")[2], DEFAULT_BUDGET.nesting)
        for finding in made.findings:
            self._wrong(raw, in_brief(kind), replace(finding, path=(*path, *finding.path)))
        if made.item is not None and not made.findings:
            for problem in validate_object(made.item):
                self.refused.add_problem(raw, problem, (*path, *tokens(problem.where.path)))
            yield made.item

    def _device(self, raw: RawDocument, value: dict[str, Any], path: Path, driver: Any) -> Iterator[ResourceSlice]:
        name = value.get("name") or f"device-{self._count}"
        called = f"device {in_brief(name) if isinstance(name, str) else self._count}"
        self._count += 1
        driver = value.get("driver", driver) or self._driver
        if not isinstance(driver, str) or not driver:
            problem = "does not say its driver" if not driver else "its driver is no string"
            self._wrong(raw, called, Flaw(path, problem, "give it a driver, or use --driver NAME"))
            return
        device = {key: member for key, member in value.items() if key not in _OURS} | {"name": name}
        if isinstance(device.get("capacity"), dict) and "basic" not in device:
            device["capacity"] = {key: _amount(member) for key, member in device["capacity"].items()}
        made = make(_around(device, driver), SLICE, _version(device), DEFAULT_BUDGET.nesting)
        for finding in made.findings:
            inner = (*path, *finding.path[_IN_SLICE:])
            message = finding.message.replace("spec.devices[0].", "")
            self._wrong(raw, called, replace(finding, path=inner, message=message))
        if made.item is not None and not made.findings:
            self._refuse(raw, made.item, called, path)
            yield made.item

    def _refuse(self, raw: RawDocument, around: ResourceSlice, called: str, path: Path) -> None:
        """Note what the API server would refuse in a device or its driver; the rest of the slice is not the user's."""
        for problem in validate_object(around):
            place = problem.where.path
            if not place.startswith((_DEVICE_PATH, _DRIVER_PATH)):
                continue
            ours = place.removeprefix(_DEVICE_PATH).removeprefix("spec.").removeprefix(".")
            where = replace(problem.where, object=called, path=ours)
            self.refused.add_problem(raw, replace(problem, where=where), (*path, *tokens(ours)))

    def _wrong(self, raw: RawDocument, name: str, finding: Flaw) -> None:
        self.complaints.add(raw, name, finding)


def _amount(value: Any) -> Any:
    return value if isinstance(value, dict) or value is None else {"value": value}


def _version(device: dict[str, Any]) -> str:
    return "v1beta1" if "basic" in device else "v1"


def _around(device: dict[str, Any], driver: str) -> dict[str, Any]:
    """Return a slice with one device."""
    pool = {"name": "", "generation": 1, "resourceSliceCount": 1}
    return {
        "apiVersion": f"{RESOURCE_GROUP}/{_version(device)}",
        "kind": SLICE.name,
        "metadata": {"name": "devices"},
        "spec": {"driver": driver, "pool": pool, "allNodes": True, "devices": [device]},
    }
