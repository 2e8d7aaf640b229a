"""
Questions on which a plain depth-first search blows up, as harness requests for op `allocate`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

Json = dict[str, Any]

DRIVER: Final = "gpu.example.com"
_FEATURES: Final = {
    "AdminAccess": True,
    "ConsumableCapacity": True,
    "DeviceTaints": True,
    "PartitionableDevices": True,
    "PrioritizedList": True,
}

#: MIG profiles of an 80 GB card: memory slices, compute slices, start positions.
MIG_PROFILES: Final[dict[str, tuple[int, int, tuple[int, ...]]]] = {
    "7g.80gb": (8, 7, (0,)),
    "4g.40gb": (4, 4, (0,)),
    "3g.40gb": (4, 3, (0, 4)),
    "2g.20gb": (2, 2, (0, 2, 4)),
    "1g.20gb": (2, 1, (0, 2, 4, 6)),
    "1g.10gb": (1, 1, (0, 1, 2, 3, 4, 5, 6)),
    "1g.10gb.me": (1, 1, (0, 1, 2, 3, 4, 5, 6)),
}


@dataclass(frozen=True)
class HardCase:
    """One question; `fits` is the right verdict, `family` groups sizes of one shape."""

    name: str
    family: str
    fits: bool
    request: Json = field(repr=False)
    target_ms: int = 20


def _attributes(values: dict[str, Any]) -> Json:
    kinds = {bool: "bool", int: "int", str: "string", list: "strings"}
    return {name: {kinds[type(value)]: value} for name, value in values.items()}


def _device(name: str, **attributes: Any) -> Json:
    return {"name": name, "attributes": _attributes(attributes)}


def _slices(devices: Sequence[Json]) -> list[Json]:
    chunks = [devices[start : start + 128] for start in range(0, len(devices), 128)]
    return [
        {
            "metadata": {"name": f"node-1-{number}"},
            "spec": {
                "driver": DRIVER,
                "nodeName": "node-1",
                "pool": {"name": "node-1", "generation": 1, "resourceSliceCount": len(chunks)},
                "devices": chunk,
            },
        }
        for number, chunk in enumerate(chunks)
    ]


def _where(**attributes: Any) -> list[Json]:
    found = []
    for name, value in attributes.items():
        literal = f'"{value}"' if isinstance(value, str) else str(value)
        found.append({"cel": {"expression": f'device.attributes["{DRIVER}"].{name} == {literal}'}})
    return found


def _exactly(count: int = 1, **attributes: Any) -> Json:
    return {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": count, "selectors": _where(**attributes)}


def _request(name: str, count: int = 1, **attributes: Any) -> Json:
    return {"name": name, "exactly": _exactly(count, **attributes)}


def _claim(requests: Sequence[Json], **constraint: str) -> Json:
    constraints = [{kind: f"{DRIVER}/{attribute}"} for kind, attribute in constraint.items()]
    return {
        "metadata": {"name": "claim", "namespace": "default"},
        "spec": {"devices": {"requests": list(requests), "constraints": constraints}},
    }


def _question(slices: Sequence[Json], claims: Sequence[Json], **more: Any) -> Json:
    return {
        "release": "1.36.2",
        "channel": "incubating",
        "features": dict(_FEATURES),
        "node": {"metadata": {"name": "node-1"}},
        "classes": [{"metadata": {"name": "gpu"}, "spec": {"selectors": _class_selectors()}}],
        "slices": list(slices),
        "claims": list(claims),
        **more,
    }


def _class_selectors() -> list[Json]:
    return [{"cel": {"expression": f'device.driver == "{DRIVER}"'}}]


def _named(count: int, **attributes: Callable[[int], Any]) -> list[Json]:
    return [
        _device(f"gpu-{index:03}", **{name: value(index) for name, value in attributes.items()})
        for index in range(count)
    ]


def _a1() -> Json:
    return _question(
        _slices(_named(16, numa=lambda index: index % 2)), [_claim([_request("r", 8)], matchAttribute="numa")]
    )


def _a3() -> Json:
    groups = [0] * 7 + [1] * 7 + [2] * 2
    devices = _named(16, numa=lambda index: groups[index])
    return _question(_slices(devices), [_claim([_request("r", 8)], matchAttribute="numa")])


def _a4() -> Json:
    decoys = [_device(f"gpu-{index:03}", links=[f"own-{index}"]) for index in range(32)]
    linked = [_device(f"gpu-{32 + index:03}", links=[f"own-{32 + index}", "fabric"]) for index in range(32)]
    claim = _claim([_request(f"r{index:02}") for index in range(32)], matchAttribute="links")
    features = {**_FEATURES, "ListTypeAttributes": True}
    return _question(_slices([*decoys, *linked]), [claim], release="1.37.2", channel="experimental", features=features)


def _e0(asked: int) -> Json:
    return _question(_slices(_named(asked - 1)), [_claim([_request("r", asked)])])


def _e1(count: int) -> Json:
    kinds = ["a"] * 10 + ["b"] * 10 + ["c"] * (count - 1)
    devices = _named(len(kinds), kind=lambda index: kinds[index], numa=lambda index: 0)
    requests = [_request(kind, count, kind=kind) for kind in "abc"]
    return _question(_slices(devices), [_claim(requests, matchAttribute="numa")])


def _e1b() -> Json:
    kinds = ["a"] * 10 + ["b"] * 10 + ["c"] * 10
    devices = _named(30, kind=lambda index: kinds[index], numa=lambda index: index // 10)
    return _question(_slices(devices), [_claim([_request(kind, kind=kind) for kind in "abc"], matchAttribute="numa")])


def _e2(devices: int, *, one_request: bool) -> Json:
    made = _named(devices, serial=lambda index: index % 11)
    requests = [_request("r", 12)] if one_request else [_request(f"r{index:02}") for index in range(12)]
    # Upstream forgets the values inside one request, so that form is hard only as the API means it.
    semantics = "intended" if one_request else "upstream"
    return _question(_slices(made), [_claim(requests, distinctAttribute="serial")], semantics=semantics)


def _e3(requests: int) -> Json:
    return _question(_slices(_named(requests - 1)), [_claim([_request(f"r{index:02}") for index in range(requests)])])


def _alternatives(name: str, asks: Iterable[Json]) -> Json:
    return {"name": name, "firstAvailable": [{"name": f"s{index}", **ask} for index, ask in enumerate(asks)]}


def _d1(requests: int) -> Json:
    devices = _named(8 * requests, model=lambda index: index % 8)
    served = [_alternatives(f"r{index}", (_exactly(model=model) for model in range(8))) for index in range(requests)]
    return _question(_slices(devices), [_claim([*served, _request("impossible", model=99)])])


def _d2(requests: int) -> Json:
    asks = [_alternatives(f"r{index}", (_exactly(2) for _ in range(8))) for index in range(requests)]
    return _question(_slices(_named(8)), [_claim(asks)])


def _amounts(values: dict[str, int]) -> Json:
    return {name: {"value": str(value)} for name, value in values.items()}


def mig_node(gpus: int) -> list[Json]:
    """Return the slices of a node whose cards offer every MIG profile at every place, whole cards too."""
    whole = {**{f"memory-slice-{place}": 1 for place in range(8)}, "compute-slices": 7}
    sets = [{"name": f"gpu-{gpu:03}", "counters": _amounts(whole)} for gpu in range(gpus)]
    devices = []
    for gpu in range(gpus):
        partitions = {"gpu": whole}
        for profile, (memory, compute, starts) in MIG_PROFILES.items():
            for start in starts:
                used = {f"memory-slice-{place}": 1 for place in range(start, start + memory)}
                partitions[f"{profile}@{start}"] = {**used, "compute-slices": compute}
        for name, used in partitions.items():
            device = _device(f"gpu-{gpu:03}-{_dns(name)}", profile=name.partition("@")[0], card=f"card-{gpu:03}")
            device["consumesCounters"] = [{"counterSet": f"gpu-{gpu:03}", "counters": _amounts(used)}]
            devices.append(device)
    return _partitioned(devices, sets)


def _dns(name: str) -> str:
    return name.replace(".", "-").replace("@", "-at-")


def _partitioned(devices: Sequence[Json], sets: Sequence[Json]) -> list[Json]:
    chunks = [("devices", devices[start : start + 64]) for start in range(0, len(devices), 64)]
    chunks += [("sharedCounters", sets[start : start + 8]) for start in range(0, len(sets), 8)]
    return [
        {
            "metadata": {"name": f"node-1-{number:04}"},
            "spec": {
                "driver": DRIVER,
                "nodeName": "node-1",
                "pool": {"name": "node-1", "generation": 1, "resourceSliceCount": len(chunks)},
                member: list(chunk),
            },
        }
        for number, (member, chunk) in enumerate(chunks)
    ]


def profile_request(name: str, profile: str, count: int = 1) -> Json:
    """Return a request for partitions of one profile."""
    return _request(name, count, profile=profile)


def mig_requests(*wanted: tuple[int, str]) -> list[Json]:
    """Return single requests for so many partitions of each profile, in that order."""
    profiles = [profile for count, profile in wanted for _ in range(count)]
    return [profile_request(f"r{index:02}", profile) for index, profile in enumerate(profiles)]


def _mig(gpus: int, *wanted: tuple[int, str]) -> Json:
    requests = mig_requests(*wanted)
    claims = [_claim(requests[start : start + 32]) for start in range(0, len(requests), 32)]
    for number, claim in enumerate(claims):
        claim["metadata"] = {"name": f"claim-{number}", "namespace": "default"}
    return _question(mig_node(gpus), claims)


def _trap(gpus: int) -> Json:
    return _mig(gpus, (gpus, "3g.40gb"), (gpus, "4g.40gb"))


def _trap_counts(gpus: int) -> Json:
    requests = [profile_request("small", "3g.40gb", gpus), profile_request("large", "4g.40gb", gpus)]
    return _question(mig_node(gpus), [_claim(requests)])


def _shares(devices: int, capacity: int, sizes: Sequence[int]) -> Json:
    """Return requests for shares of so much of devices that can be shared."""
    made = []
    for device in _named(devices):
        device["allowMultipleAllocations"] = True
        device["capacity"] = {"memory": {"value": f"{capacity}Gi"}}
        made.append(device)
    requests = [_request(f"r{number:02}") for number in range(len(sizes))]
    for request, size in zip(requests, sizes, strict=True):
        request["exactly"]["capacity"] = {"requests": {"memory": f"{size}Gi"}}
    return _question(_slices(made), [_claim(requests)])


_TIGHT: Final = ((6, "3g.40gb"), (6, "4g.40gb"), (6, "2g.20gb"), (2, "1g.10gb"))
_B7: Final = ((6, "4g.40gb"), (7, "3g.40gb"), (6, "2g.20gb"), (2, "1g.10gb"))
_LOOSE: Final = ((2, "3g.40gb"), (2, "2g.20gb"), (2, "1g.20gb"), (14, "1g.10gb"))


#: Milliseconds for nodes with MIG partitions, and for shares.
_SLOW: Final = 150


def hard_cases() -> Iterator[HardCase]:
    """Return every case, easy sizes of a family first."""
    yield HardCase("A1", "A1", True, _a1())
    yield HardCase("A3", "A3", False, _a3())
    yield HardCase("A4", "A4", True, _a4())
    for asked in (8, 20, 25, 32):
        yield HardCase(f"E0 {asked} of {asked - 1}", "E0", False, _e0(asked))
    for count in (3, 5, 8):
        yield HardCase(f"E1 3x{count} of 10", "E1", False, _e1(count))
    yield HardCase("E1b", "E1b", False, _e1b())
    for devices in (22, 33, 44):
        yield HardCase(f"E2 {devices} devices, 12 requests", "E2", False, _e2(devices, one_request=False))
        yield HardCase(f"E2 {devices} devices, count 12", "E2", False, _e2(devices, one_request=True))
    for requests in (9, 12, 16, 32):
        yield HardCase(f"E3 {requests} on {requests - 1}", "E3", False, _e3(requests))
    for requests in (3, 6, 8):
        yield HardCase(f"D1 {requests}x8", "D1", False, _d1(requests))
    for requests in (5, 6, 8):
        yield HardCase(f"D2 {requests}x8", "D2", False, _d2(requests))
    yield HardCase("B1 loose", "B", True, _mig(8, *_LOOSE), _SLOW)
    yield HardCase("B3 tight", "B", True, _mig(8, *_TIGHT), _SLOW)
    yield HardCase("B4 tight, small first", "B", True, _mig(8, *reversed(_TIGHT)), _SLOW)
    yield HardCase("B5 nine 4g", "B", False, _mig(8, (9, "4g.40gb"), (11, "1g.10gb")), _SLOW)
    yield HardCase("B7 one 3g too many", "B", False, _mig(8, *_B7), _SLOW)
    for gpus in (2, 3, 4, 5, 6, 8):
        yield HardCase(f"trap {gpus}", "trap", True, _trap(gpus), _SLOW)
    for devices in (4, 8, 12):
        # First fit puts three small shares on one device, and no large one fits beside two.
        sizes = [3] * devices + [7] * devices
        yield HardCase(f"C1 {devices} devices, 3 and 7 of 10", "C", True, _shares(devices, 10, sizes), _SLOW)
        yield HardCase(f"C2 {devices} devices, one of 8", "C", False, _shares(devices, 10, [*sizes[:-1], 8]), _SLOW)
    for gpus in (6, 8, 11):
        yield HardCase(f"trap {gpus}, counts", "trap", True, _trap_counts(gpus), _SLOW)
