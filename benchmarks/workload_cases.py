"""
Workloads beside those of `fleet_cases.py`: selectors that are all distinct, fleets in which everything is different,
shares of capacity, requests for all, partitions, claims over several drivers. The same in every run.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from benchmarks.fleet_cases import DRIVER, NUMA, PCIE, claim, device_class, node
from benchmarks.generate import slices

Json = dict[str, Any]
FABRIC: Final = "nic.example.com"
DISKS: Final = "nvme.example.com"
#: Counter of a partition, devices of one that the GPU has, first slice of each.
PROFILES: Final = ((1, range(7)), (2, (0, 2, 4)), (3, (0, 4)), (4, (0,)), (7, (0,)))
_GIB: Final = 1 << 30


@dataclass(slots=True)
class Workload:
    """
    One workload in wire form.

    `mode` is "ask" (every pod asked of every node), "loop" (the same, and the first node that fits is taken), "place"
    (each pod on the first node that fits) or "call" (the only pod asked of every node, one call a node). `held` are
    devices by driver, pool and name, `shares` what is consumed of some.
    """

    mode: str
    slices: list[Json]
    nodes: list[Json]
    pods: list[list[Json]]
    classes: list[Json]
    held: list[tuple[str, str, str]] = field(default_factory=list)
    shares: list[tuple[tuple[str, str, str], dict[str, str]]] = field(default_factory=list)

    def for_upstream(self, seconds: float) -> Json:
        """Return the input of the Go program, which gets the allocated devices as lists."""
        return {
            "mode": "ask" if self.mode == "call" else self.mode,
            "slices": self.slices,
            "classes": self.classes,
            "nodes": self.nodes,
            "pods": self.pods,
            "allocated": self.held,
            "shares": [{"device": device, "capacity": amounts} for device, amounts in self.shares],
            "seconds": seconds,
        }

    def dump(self) -> Json:
        """Return everything but the pods as kubectl prints it; each device is held by a claim of its own."""
        results: list[Json] = [_result(device) for device in self.held]
        results += [
            {**_result(device), "shareID": f"00000000-0000-4000-8000-{number:012d}", "consumedCapacity": amounts}
            for number, (device, amounts) in enumerate(self.shares)
        ]
        claims = [_holding(f"held-{number}", result) for number, result in enumerate(results)]
        return {"apiVersion": "v1", "kind": "List", "items": [*self.classes, *self.nodes, *self.slices, *claims]}


def _result(device: tuple[str, str, str]) -> Json:
    driver, pool, name = device
    return {"request": "r", "driver": driver, "pool": pool, "device": name}


def _holding(name: str, result: Json) -> Json:
    made = _claim(name, [_request("r")])
    return {**made, "status": {"allocation": {"devices": {"results": [result]}}}}


def _claim(name: str, requests: Sequence[Json], alike: str = "") -> Json:
    devices: Json = {"requests": list(requests)}
    if alike:
        devices["constraints"] = [{"matchAttribute": alike}]
    meta = {"name": name, "namespace": "default", "uid": f"uid-{name}"}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": meta, "spec": {"devices": devices}}


def _request(name: str, selectors: Sequence[str] = (), **more: Any) -> Json:
    exactly: Json = {"deviceClassName": "any", "allocationMode": "ExactCount", "count": 1, **more}
    if selectors:
        exactly["selectors"] = [{"cel": {"expression": each}} for each in selectors]
    return {"name": name, "exactly": {key: value for key, value in exactly.items() if value is not None}}


def _slice(name: str, driver: str, node_number: int, devices: Sequence[Json], **more: Any) -> Json:
    node_name = f"node-{node_number:05d}"
    pool = {"name": node_name, "generation": 1, "resourceSliceCount": more.pop("parts", 1)}
    spec = {"driver": driver, "nodeName": node_name, "pool": pool, "devices": list(devices), **more}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": name}, "spec": spec}


def _gpus(nodes: int, *, different: bool) -> list[Json]:
    """Return slices of eight devices; `different` gives every device values of its own in whatever a selector reads."""
    made = list(slices(nodes, 8))
    if different:
        draw = random.Random(f"different/{nodes}")
        for each in made:
            for device in each["spec"]["devices"]:
                device["attributes"] |= {
                    "serial": {"string": f"{draw.getrandbits(48):012x}"},
                    "score": {"int": draw.randrange(1_000_000)},
                    "driverVersion": {
                        "version": f"{draw.randrange(500, 600)}.{draw.randrange(200)}.{draw.randrange(9)}"
                    },
                }
                device["attributes"][NUMA] = {"int": 2 * draw.randrange(1_000) + device["attributes"][NUMA]["int"]}
    else:
        for each in made:
            for device in each["spec"]["devices"]:
                device["attributes"] |= {"serial": {"string": "none"}, "score": {"int": 500_000}}
    return made


def _held(nodes: int, busy: float, names: Sequence[str], driver: str = DRIVER) -> list[tuple[str, str, str]]:
    draw = random.Random(f"held/{nodes}/{busy}/{driver}")
    return [(driver, f"node-{number:05d}", name) for number in range(nodes) for name in names if draw.random() < busy]


_EIGHT: Final = [f"gpu-{number}" for number in range(8)]


def _distinct(number: int) -> str:
    """Return a selector like which there is no other; about half of the devices of a diverse fleet match."""
    own = f"device.attributes['{DRIVER}']"
    return (
        f"{own}.score >= {400_000 + number}",
        f"{own}.serial != 'x{number}' && {own}.score < {600_000 + number}",
        f"{own}.driverVersion.isGreaterThan(semver('{500 + number % 50}.{number}.0'))",
        f"{own}.productName.contains('H100') && !{own}.serial.startsWith('{number:x}')",
    )[number % 4]


def selectors(nodes: int, pods: int, mode: str, *, different: bool) -> Workload:
    """Pods each of which has a selector of its own, for one device or two; 30 % of the devices are held."""
    asked = [[_claim(f"pod-{each}", [_request("gpu", [_distinct(each)], count=1 + each % 2)])] for each in range(pods)]
    fleet = _gpus(nodes, different=different)
    return Workload(mode, fleet, _nodes(nodes), asked, [device_class()], _held(nodes, 0.3, _EIGHT))


def sharing(nodes: int, pods: int, mode: str, *, different: bool) -> Workload:
    """Devices of which several pods have shares, most of them partly consumed."""
    draw = random.Random(f"sharing/{nodes}")
    fleet, shares = [], []
    for number in range(nodes):
        devices = []
        for place in range(8):
            memory = (60 + draw.randrange(40) if different else 80) * _GIB
            cores = 100 + (draw.randrange(100) if different else 0)
            policy = {"default": "1Gi", "validRange": {"min": "1Gi", "step": "1Gi"}}
            capacity = {"memory": {"value": str(memory), "requestPolicy": policy}, "cores": {"value": str(cores)}}
            model = f"model-{draw.randrange(9999)}" if different else "model"
            attributes = {"model": {"string": model}, "index": {"int": place}}
            name = f"gpu-{place}"
            devices.append(
                {"name": name, "allowMultipleAllocations": True, "attributes": attributes, "capacity": capacity}
            )
            key = (DRIVER, f"node-{number:05d}", name)
            shares += [(key, {"memory": f"{draw.choice((10, 20))}Gi", "cores": "20"}) for _ in range(draw.randrange(4))]
        fleet.append(_slice(f"slice-{number}", DRIVER, number, devices))
    asked = [[_claim(f"pod-{number}", [_shares(number)])] for number in range(pods)]
    return Workload(mode, fleet, _nodes(nodes), asked, [device_class()], shares=shares)


def _shares(number: int) -> Json:
    amounts = {"memory": f"{20 + 5 * (number % 10)}Gi", "cores": str(20 + 10 * (number % 3))}
    own = f"device.attributes['{DRIVER}']"
    return _request("share", [f"{own}.model.startsWith('model')"], count=1 + number % 2, capacity={"requests": amounts})


def everything(nodes: int, pods: int, *, different: bool) -> Workload:
    """Requests for all devices of a node that match; on a fifth of the nodes one is held."""
    own = f"device.attributes['{DRIVER}']"
    chosen = (f"{own}.index < 4", f"{own}.productName.contains('H100')", f"{own}.score >= 0", f"{own}.index >= 2")
    asked = [
        [_claim(f"pod-{number}", [_request("all", [chosen[number % 4]], allocationMode="All", count=None)])]
        for number in range(pods)
    ]
    fleet = _gpus(nodes, different=different)
    return Workload("ask", fleet, _nodes(nodes), asked, [device_class()], _held(nodes, 0.025, _EIGHT))


def kinds(nodes: int, mode: str, *, different: bool) -> Workload:
    """Questions of a busy cluster, each asked for the first time; 30 % of the devices are held."""
    wanted = ((1, "", "H100"), (2, NUMA, "H100"), (4, NUMA, "H100"), (2, "", "A100"), (2, PCIE, "H100"))
    asked = [[claim(f"pod-{number}", *each)] for number, each in enumerate(wanted)]
    if mode == "call":
        asked = asked[:1]
    fleet = _gpus(nodes, different=different)
    return Workload(mode, fleet, _nodes(nodes), asked, [device_class()], _held(nodes, 0.3, _EIGHT))


def partitions(nodes: int, pods: int, *, different: bool) -> Workload:
    """Four GPUs a node that are cut into partitions by counters, half of the memory held by partitions."""
    draw = random.Random(f"partitions/{nodes}")
    fleet, held = [], []
    for number in range(nodes):
        parts: list[list[Json]] = [[], []]
        for gpu in range(4):
            made = [_partition(gpu, size, first, draw if different else None) for size, at in PROFILES for first in at]
            parts[gpu // 2] += made
            taken = draw.choice(((1, 0, 1), (3, 0), (2, 0, 2), (1, 2, 3), (4, 0)))
            size = taken[0]
            held += [(DRIVER, f"node-{number:05d}", f"gpu-{gpu}-{size}g-{first}") for first in _places(size, taken[1:])]
        sets = [{"name": f"gpu-{gpu}", "counters": _counters(range(8), 8)} for gpu in range(4)]
        counting = _slice(f"slice-{number}-counters", DRIVER, number, [], parts=3, sharedCounters=sets)
        del counting["spec"]["devices"]
        devices = [_slice(f"slice-{number}-{part}", DRIVER, number, each, parts=3) for part, each in enumerate(parts)]
        fleet += [counting, *devices]
    own = f"device.attributes['{DRIVER}']"
    mixes = ((1,), (1, 1, 2), (3,), (2, 2), (4,), (3, 1, 1))
    asked = []
    for number in range(pods):
        sizes = enumerate(mixes[number % len(mixes)])
        requests = [_request(f"r{place}", [f"{own}.profile == '{size}g'"]) for place, size in sizes]
        asked.append([_claim(f"pod-{number}", requests)])
    return Workload("ask", fleet, _nodes(nodes), asked, [device_class()], held)


def _places(size: int, firsts: Sequence[int]) -> Sequence[int]:
    """Return where partitions of a size start, of those asked for."""
    return [each for each in dict(PROFILES)[size] if each in firsts]


def _partition(gpu: int, size: int, first: int, draw: random.Random | None) -> Json:
    attributes: Json = {"profile": {"string": f"{size}g"}, "index": {"int": gpu}}
    if draw is not None:
        attributes["serial"] = {"string": f"{draw.getrandbits(48):012x}"}
    uses = {"counterSet": f"gpu-{gpu}", "counters": _counters(range(first, first + size), size)}
    capacity = {"memory": {"value": f"{10 * size}Gi"}}
    name = f"gpu-{gpu}-{size}g-{first}"
    return {"name": name, "attributes": attributes, "capacity": capacity, "consumesCounters": [uses]}


def _counters(places: Sequence[int] | range, memory: int) -> Json:
    return {"memory": {"value": f"{10 * memory}Gi"}} | {f"slice-{place}": {"value": "1"} for place in places}


def drivers(nodes: int, pods: int, *, different: bool) -> Workload:
    """Four claims a pod, each for one device of three drivers below one PCIe root; a tenth of the devices is held."""
    draw = random.Random(f"drivers/{nodes}")
    fleet, held = [], []
    for number in range(nodes):
        roots = [f"pci{draw.getrandbits(32):08x}" if different else f"pci000{place}" for place in range(4)]
        for driver in (DRIVER, FABRIC, DISKS):
            devices = [
                {"name": f"d-{place}", "attributes": {PCIE: {"string": roots[place // 2]}, "index": {"int": place}}}
                for place in range(8)
            ]
            fleet.append(_slice(f"{driver}-{number}", driver, number, devices))
            held += [(driver, f"node-{number:05d}", f"d-{place}") for place in range(8) if draw.random() < 0.1]
    requests = [
        _request(driver.partition(".")[0], [f"device.driver == '{driver}'"]) for driver in (DRIVER, FABRIC, DISKS)
    ]
    asked = [[_claim(f"pod-{number}-{each}", requests, PCIE) for each in range(4)] for number in range(pods)]
    return Workload("ask", fleet, _nodes(nodes), asked, [device_class(selecting=False)], held)


def _nodes(count: int) -> list[Json]:
    return [node(number) for number in range(count)]


#: name -> what makes the workload, for a uniform fleet and for one in which everything is different.
WORKLOADS: Final[dict[str, Callable[[bool], Workload]]] = {
    "filter_40_selectors": lambda different: selectors(200, 40, "ask", different=different),
    "place_1000_selectors": lambda different: selectors(200, 1_000, "place", different=different),
    "filter_shares": lambda different: sharing(200, 20, "ask", different=different),
    "loop_shares": lambda different: sharing(100, 200, "loop", different=different),
    "filter_all": lambda different: everything(200, 8, different=different),
    "filter_new_question": lambda different: kinds(1_000, "ask", different=different),
    "first_call": lambda different: kinds(200, "call", different=different),
    "partitions_half_held": lambda different: partitions(100, 12, different=different),
    "claims_of_3_drivers": lambda different: drivers(100, 3, different=different),
}
