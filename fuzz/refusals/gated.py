"""
Random worlds in which a pod is refused since a gate is off, one kind of world per gate that can be the cause.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Final

from fuzz.refusals.drawing import API, DRIVER, RESOURCE, Drawing, Json, asks, namespaced

_BINDING: Final = "DRADeviceBindingConditions"
#: What a node says that can do without what drivers do on it.
_ABLE: Final = "DRAOptionalNodeOperations"


def gated(seed: int) -> Iterator[Json]:
    """Return worlds without end, the gates in turn."""
    random = Random(seed)
    while True:
        for gate, (releases, _) in GATED.items():
            for release, *options in releases:
                # Without a say of the options it is off by default.
                asked = ["--release", release, *(part for each in options for part in ("--gate", each))]
                drawing = _Gated(random, ("--release", release), gate)
                yield {"options": asked, "dumped": drawing.is_dumped, "objects": drawing.objects()}


class _Gated(Drawing):
    """One random world with plain devices, but for what the gate is about."""

    def __init__(self, random: Random, options: tuple[str, ...], gate: str) -> None:
        super().__init__(random, options)
        self._shares = self._counts = self._extended = False
        self._gate = gate
        #: Whether a server with the gate on has stored what the cluster has.
        self.is_dumped = self._chance(0.6)

    def objects(self) -> list[Json]:
        """Return the manifests."""
        nodes = [self._plain(f"n{number}") for number in range(self._one((1, 1, 2)))]
        slices = [self._whole(node["metadata"]["name"]) for node in nodes]
        classes = [self._class("gpu", 0.3), self._class("any", 0.0)]
        holders = self._holders(slices) if self._chance(0.3) else []
        claims = [self._asking(f"c{number}") for number in range(self._one((1, 1, 2)))]
        space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns", "labels": {}}, "spec": {}}
        made = [space, *nodes, *slices, *classes, *holders, *claims, self._pod(claims)]
        GATED[self._gate][1](made, self._random)
        return made

    def _plain(self, name: str) -> Json:
        node = self._node(name)
        node["spec"] = {}
        return node

    def _whole(self, name: str) -> Json:
        slices = self._pool(name, name)
        slices[0]["spec"]["pool"]["resourceSliceCount"] = 1
        made: Json = slices[0]
        return made

    def _asking(self, name: str) -> Json:
        requests = [
            {
                "name": f"r{number}",
                "exactly": {"deviceClassName": self._one(("gpu", "any")), "count": self._one((1, 1, 2))},
            }
            for number in range(self._one((1, 1, 2)))
        ]
        return namespaced(API, "ResourceClaim", name, {"devices": {"requests": requests}})


def _pending(made: list[Json]) -> Iterator[Json]:
    return (each["spec"]["devices"] for each in made if each["kind"] == "ResourceClaim" and "status" not in each)


def _devices(made: list[Json]) -> Iterator[Json]:
    return (device for each in made if each["kind"] == "ResourceSlice" for device in each["spec"].get("devices", ()))


def _shared(made: list[Json], random: Random) -> None:
    """Let all devices be shared, and ask for a part of each."""
    for device in _devices(made):
        device["allowMultipleAllocations"] = True
    for devices in _pending(made):
        for _, ask in asks(devices):
            ask["capacity"] = {"requests": {"mem": "5Gi"}}
            ask["count"] = random.choice((1, 1, 2, 3))


def _partitioned(made: list[Json], random: Random) -> None:
    """Let all devices draw on counters, of which there are enough more often than not."""
    for device in _devices(made):
        device["consumesCounters"] = [{"counterSet": "cs", "counters": {"m": {"value": "1"}}}]
    for each in [each for each in made if each["kind"] == "ResourceSlice"]:
        sets = [{"name": "cs", "counters": {"m": {"value": str(random.choice((1, 4, 8)))}}}]
        pool = {**each["spec"]["pool"], "resourceSliceCount": 2}
        each["spec"]["pool"] = pool
        spec = {"driver": DRIVER, "nodeName": each["spec"]["nodeName"], "pool": pool, "sharedCounters": sets}
        name = f"{each['metadata']['name']}-counters"
        made.insert(1, {"apiVersion": API, "kind": "ResourceSlice", "metadata": {"name": name}, "spec": spec})


def _grouped(made: list[Json], random: Random) -> None:
    _partitioned(made, random)
    for device in _devices(made):
        device["consumesCounters"][0]["compatibilityGroups"] = random.sample(["a", "b"], random.choice((1, 2)))


def _listed(made: list[Json], random: Random) -> None:
    """Give devices lists of values, of which some have to match."""
    for device in _devices(made):
        device["attributes"]["numa"] = {"ints": random.choice(([0, 1], [1], [0], [1, 2]))}
    for devices in _pending(made):
        devices["constraints"] = [{"matchAttribute": "x.io/numa"}]


def _derived(made: list[Json], random: Random) -> None:
    for devices in _pending(made):
        for _, ask in asks(devices):
            value = random.choice(('device.attributes["x.io"].numa', '"one"', "device.driver"))
            ask["derivedAttributes"] = [{"name": "y.io/half", "expression": value}]
        devices["constraints"] = [{"matchAttribute": "y.io/half"}]


def _bound(made: list[Json], random: Random) -> None:
    for device in _devices(made):
        device |= {"bindingConditions": ["x.io/ready"], "bindingFailureConditions": ["x.io/failed"]}
        device["bindsToNode"] = random.random() < 0.5


def _administered(made: list[Json], random: Random) -> None:
    """Ask for devices as an administrator, whoever holds them."""
    made[0]["metadata"]["labels"] = {"resource.kubernetes.io/admin-access": "true"}
    for devices in _pending(made):
        for _, ask in asks(devices):
            ask["adminAccess"] = random.random() < 0.8


def _without_operations(made: list[Json], random: Random) -> None:
    for each in made:
        if each["kind"] == "ResourceSlice":
            each["spec"]["skipNodeOperations"] = [random.choice(("*", "NodePrepareResources"))]
        elif each["kind"] == "Node":
            each["status"]["declaredFeatures"] = [_ABLE]


def _extended(made: list[Json], random: Random) -> None:
    (served,) = [each for each in made if each["kind"] == "DeviceClass" and each["metadata"]["name"] == "gpu"]
    served["spec"]["extendedResourceName"] = RESOURCE
    (container,) = made[-1]["spec"]["containers"]
    container["resources"]["limits"] = {RESOURCE: str(random.choice((1, 1, 2)))}


#: Gate -> the releases in which it can be off, each with what switches it off there, and what it is the cause of then.
GATED: Final[dict[str, tuple[tuple[tuple[str, ...], ...], Callable[[list[Json], Random], None]]]] = {
    "DRAConsumableCapacity": (
        (("1.34",), ("1.35",), ("1.36", "DRAConsumableCapacity=false"), ("1.37", "DRAConsumableCapacity=false")),
        _shared,
    ),
    "DRAPartitionableDevices": (
        (("1.34",), ("1.35",), ("1.36", "DRAPartitionableDevices=false"), ("1.37", "DRAPartitionableDevices=false")),
        _partitioned,
    ),
    "DRAAdminAccess": ((("1.34", "DRAAdminAccess=false"), ("1.35", "DRAAdminAccess=false")), _administered),
    _BINDING: ((("1.34",), ("1.35",), ("1.36", f"{_BINDING}=false"), ("1.37", f"{_BINDING}=false")), _bound),
    "DRAListTypeAttributes": ((("1.36",), ("1.37",)), _listed),
    "DRADerivedAttributes": ((("1.37",),), _derived),
    "DRADeviceCompatibilityGroups": ((("1.37",),), _grouped),
    _ABLE: ((("1.37",),), _without_operations),
    "DRAExtendedResource": ((("1.34",), ("1.35",), ("1.36", "DRAExtendedResource=false")), _extended),
}
