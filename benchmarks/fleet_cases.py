"""
Clusters and pods for questions to whole clusters, the same in every run.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from benchmarks.generate import slices

Json = dict[str, Any]
DRIVER: Final = "gpu.example.com"
NUMA: Final = "resource.kubernetes.io/numaNode"
PCIE: Final = "resource.kubernetes.io/pcieRoot"
#: Devices wanted, attribute they have in common, and model: what pods of a busy cluster ask for.
WANTED: Final = (
    (1, "", "H100"),
    (2, NUMA, "H100"),
    (4, NUMA, "H100"),
    (8, "", "H100"),
    (1, "", "A100"),
    (2, PCIE, "H100"),
)


@dataclass(slots=True)
class FleetCase:
    """
    One case in wire form.

    `mode` is "place" (each pod on the first node that fits, after the earlier
    ones) or "filter" (the one pod on every node, `repeats` times).
    """

    name: str
    mode: str
    slices: list[Json]
    nodes: list[Json]
    pods: list[list[Json]]
    claims: list[Json] = field(default_factory=list)
    classes: list[Json] = field(default_factory=list)
    repeats: int = 1

    def for_upstream(self, seconds: float) -> Json:
        """Return the input of the Go program, which gets the allocated devices as a list."""
        return {
            "mode": self.mode,
            "slices": self.slices,
            "classes": self.classes,
            "nodes": self.nodes,
            "pods": self.pods,
            "allocated": [
                [each["driver"], each["pool"], each["device"]]
                for claim in self.claims
                for each in claim["status"]["allocation"]["devices"]["results"]
            ],
            "seconds": seconds,
            "repeats": self.repeats,
        }

    def dump(self) -> Json:
        """Return everything but the pods as one list, as kubectl prints it."""
        items = [*self.classes, *self.nodes, *self.slices, *self.claims]
        return {"apiVersion": "v1", "kind": "List", "items": items}


def whatif(nodes: int, devices: int, pods: int, busy: float = 0.3, *, together: bool = False) -> FleetCase:
    """
    A what-if: pods of six kinds on nodes of two models, a share of the devices allocated at random.

    One claim holds one device, or (`together`) all that are held on its node.
    """
    draw = random.Random(f"{nodes}/{devices}/{pods}")
    held = []
    for number in range(nodes):
        places = [index for index in range(devices) if draw.random() < busy]
        groups = [places] if together else [[index] for index in places]
        held += [_allocated(f"held-{number}-{group[0]}", number, group) for group in groups if group]
    asked = whatif_pods(pods, devices, f"{nodes}/{devices}/{pods}/pods")
    return FleetCase("whatif", "place", list(slices(nodes, devices)), _nodes(nodes), asked, held, [device_class()])


def whatif_pods(pods: int, devices: int, seed: str) -> list[list[Json]]:
    """Return pods of six kinds, those that ask for no more devices than a node has."""
    draw = random.Random(seed)
    wanted = [each for each in WANTED if each[0] <= devices]
    return [[claim(f"pod-{number}", *draw.choice(wanted))] for number in range(pods)]


def autoscaler(nodes: int, pods: int) -> FleetCase:
    """Half of all devices allocated, one claim each, and pods that wait."""
    draw = random.Random(f"autoscaler/{nodes}")
    held = [_allocated(f"held-{node}-{i}", node, [i]) for node in range(nodes) for i in draw.sample(range(8), 4)]
    asked = [[claim(f"pod-{number}", *draw.choice(WANTED[:3] + WANTED[4:]))] for number in range(pods)]
    return FleetCase("autoscaler", "place", list(slices(nodes, 8)), _nodes(nodes), asked, held, [device_class()])


def shared(nodes: int, pools: int, pods: int) -> FleetCase:
    """Pools of 1,024 devices that every node sees, besides the node's own; each pod wants one of each kind."""
    fabric = [_fabric(pool, part) for pool in range(pools) for part in range(8)]
    own = list(slices(nodes, 8))
    selector = {"cel": {"expression": f"device.driver == '{DRIVER}'"}}
    ports = {"cel": {"expression": "device.driver == 'fabric.example.com'"}}
    asked = [
        [
            {
                **_meta(f"pod-{number}"),
                "spec": {"devices": {"requests": [_request("gpu", 1, [selector]), _request("port", 1, [ports])]}},
            }
        ]
        for number in range(pods)
    ]
    return FleetCase("shared", "place", [*own, *fabric], _nodes(nodes), asked, [], [device_class(selecting=False)])


def filters(count: int, alike: str, nodes: int = 50) -> FleetCase:
    """One question to nodes on which it fits."""
    made = list(slices(2 * nodes, 8))[::2]
    names = [each["spec"]["nodeName"] for each in made]
    nodes_made = [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}} for name in names]
    pod = [claim("pod", count, alike, "H100")]
    return FleetCase("filter", "filter", made, nodes_made, [pod], [], [device_class()], repeats=40)


def _nodes(count: int) -> list[Json]:
    return [node(number) for number in range(count)]


def node(number: int) -> Json:
    """Return one of the nodes that the generated slices are for."""
    name = f"node-{number:05d}"
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}}}


def device_class(*, selecting: bool = True) -> Json:
    """Return the class that all pods ask for."""
    selectors = [{"cel": {"expression": f"device.driver == '{DRIVER}'"}}] if selecting else []
    meta = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "any"}}
    return {**meta, "spec": {"selectors": selectors}}


def _meta(name: str) -> Json:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}"},
    }


def _request(name: str, count: int, selectors: list[Json]) -> Json:
    exactly = {"deviceClassName": "any", "allocationMode": "ExactCount", "count": count, "selectors": selectors}
    return {"name": name, "exactly": exactly}


def claim(name: str, count: int, alike: str, model: str) -> Json:
    """Return a claim for some devices of a model, which have an attribute in common unless `alike` is empty."""
    selector = {"cel": {"expression": f"device.attributes['{DRIVER}'].productName.contains('{model}')"}}
    devices: Json = {"requests": [_request("gpu", count, [selector])]}
    if alike:
        devices["constraints"] = [{"requests": ["gpu"], "matchAttribute": alike}]
    return {**_meta(name), "spec": {"devices": devices}}


def _allocated(name: str, node: int, places: list[int]) -> Json:
    pool = f"node-{node:05d}"
    results = [{"request": "gpu", "driver": DRIVER, "pool": pool, "device": f"gpu-{place}"} for place in places]
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [pool]}]}]
    allocation = {"devices": {"results": results}, "nodeSelector": {"nodeSelectorTerms": terms}}
    return {
        **_meta(name),
        "spec": {"devices": {"requests": [_request("gpu", len(places), [])]}},
        "status": {"allocation": allocation},
    }


def _fabric(pool: int, part: int) -> Json:
    devices = [
        {"name": f"port-{part * 128 + index}", "attributes": {"speed": {"int": 400}, "lane": {"int": index % 8}}}
        for index in range(128)
    ]
    spec = {
        "driver": "fabric.example.com",
        "allNodes": True,
        "pool": {"name": f"fabric-{pool}", "generation": 1, "resourceSliceCount": 8},
        "devices": devices,
    }
    meta = {"name": f"fabric-{pool}-{part}"}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": meta, "spec": spec}


#: name -> what makes the case, at full size or at a tenth of it.
CASES: Final[dict[str, Callable[[bool], FleetCase]]] = {
    "whatif_5k": lambda full: whatif(5_000, 8, 1_000) if full else whatif(500, 8, 100),
    "whatif_shared": lambda full: shared(5_000, 10, 20) if full else shared(500, 10, 5),
    "autoscaler_shape": lambda full: autoscaler(5_000, 500) if full else autoscaler(500, 50),
    "filter_1_of_8": lambda _: filters(1, ""),
    "filter_8_of_8": lambda _: filters(8, ""),
    "filter_2_numa": lambda _: filters(2, NUMA),
}


def fleet_case(name: str, *, full: bool = True) -> FleetCase:
    """Return a case by its name."""
    made = CASES[name](full)
    made.name = name
    return made
