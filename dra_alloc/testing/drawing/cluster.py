"""
Random clusters: a node, pools of slices of devices, and what is allocated already.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from dra_alloc.testing.drawing.devices import Json, Publisher, device
from dra_alloc.testing.drawing.dialect import Dialect, Mix
from dra_alloc.testing.drawing.draw import Chooser

_ZONES: Final = ("a", "b")


@dataclass(frozen=True, slots=True)
class DrawnDevice:
    """A device with the driver and pool it is in, and whether the node asked about can reach its slice."""

    driver: str
    pool: str
    wire: Json
    here: bool

    @property
    def id(self) -> list[str]:
        """Return [driver, pool, device]."""
        return [self.driver, self.pool, self.wire["name"]]


@dataclass(slots=True)
class DrawnCluster:
    """A cluster's objects in wire form, and the facts that claims are drawn from."""

    node: Json
    slices: list[Json] = field(default_factory=list)
    devices: list[DrawnDevice] = field(default_factory=list)
    allocated: list[list[str]] = field(default_factory=list)
    allocated_shared: list[list[str]] = field(default_factory=list)
    aggregated: list[Json] = field(default_factory=list)

    @property
    def drivers(self) -> list[str]:
        """Return the drivers in use."""
        return sorted({each.driver for each in self.devices}) or ["d1"]


def cluster(draw: Chooser, mix: Mix, dialect: Dialect) -> DrawnCluster:
    """Return a random cluster."""
    labels = {"zone": draw.choice(_ZONES), "rack": draw.choice(_ZONES)}
    made = DrawnCluster({"metadata": {"name": "n1", "labels": labels}})
    if draw.chance(0.7):
        made.node["status"] = {"declaredFeatures": ["Other", "DRAOptionalNodeOperations"]}
    names = _pool_names(draw, mix, draw.integer(1, dialect.pools))
    for driver, pool in names:
        _Pool(driver, pool, draw, mix, dialect).publish(made)
    if len(made.slices) > 1:
        made.slices = draw.sample(made.slices, len(made.slices))
    _hold_devices(made, draw, mix)
    return made


def _pool_names(draw: Chooser, mix: Mix, count: int) -> list[tuple[str, str]]:
    names: list[tuple[str, str]] = []
    for index in range(count):
        driver = draw.choice(("d1", "d2")) if mix.has(draw, "several-drivers") else "d1"
        pool = "p1" if mix.has(draw, "pool-name-twice") else f"p{draw.integer(1, 2) + index}"
        if (driver, pool) not in names:
            names.append((driver, pool))
    return names


class _Pool:
    """One pool being made."""

    def __init__(self, driver: str, name: str, draw: Chooser, mix: Mix, dialect: Dialect) -> None:
        self._driver = driver
        self._name = name
        self._draw = draw
        self._mix = mix
        self._dialect = dialect
        self._generation = draw.integer(1, 2)
        self._slices: list[Json] = []
        self._devices: list[DrawnDevice] = []
        self._sets = self._counter_sets() if mix.has(draw, "counters") else []

    def publish(self, into: DrawnCluster) -> None:
        """Add the pool's slices to the cluster."""
        draw, mix = self._draw, self._mix
        count = draw.integer(2, 3) if mix.has(draw, "several-slices") else 1
        for index in range(count):
            self._slices.append(self._device_slice(index, into.node))
        if self._sets and not self._dialect.counters_with_devices:
            self._slices += self._counter_slices(into.node)
        for each in self._slices:
            each["spec"]["pool"]["resourceSliceCount"] = len(self._slices)
        if mix.has(draw, "broken-pool"):
            self._break()
        if mix.has(draw, "old-generation"):
            self._add_old_generation(into.node)
        into.slices += self._slices
        into.devices += self._devices

    def _slice(self, name: str) -> Json:
        pool = {"name": self._name, "generation": self._generation, "resourceSliceCount": 1}
        prefix = self._draw.choice("abc")
        return {
            "metadata": {"name": f"{prefix}-{self._driver}-{self._name}-{name}"},
            "spec": {"driver": self._driver, "pool": pool},
        }

    def _device_slice(self, index: int, node: Json, *, record: bool = True) -> Json:
        draw, mix = self._draw, self._mix
        made = self._slice(f"d{index}g{self._generation}")
        spec = made["spec"]
        per_device = mix.has(draw, "per-device-nodes")
        here = True
        if per_device:
            spec["perDeviceNodeSelection"] = True
        else:
            here = self._place(spec, node)
        publisher = Publisher(self._driver, self._sets, lists=self._dialect.knows_lists)
        devices = []
        many = 8 if mix.has(draw, "many-devices") else 1
        for number in range(draw.integer(2, 5) * many):
            wire = device(f"x{index}{number}", publisher, draw, mix)
            reachable = here
            if per_device:
                reachable = self._place(wire, node)
            devices.append(wire)
            if record:
                self._devices.append(DrawnDevice(self._driver, self._name, wire, reachable))
        spec["devices"] = devices
        if mix.has(draw, "node-operations"):
            spec["skipNodeOperations"] = draw.choice((["*"], ["NodePrepareResources", "NodeUnprepareResources"], []))
        if self._sets and self._dialect.counters_with_devices:
            spec["sharedCounters"] = self._sets
        return made

    def _place(self, place: Json, node: Json) -> bool:
        """Say which nodes reach a slice or device; return whether the node does."""
        draw, mix = self._draw, self._mix
        if mix.has(draw, "other-nodes"):
            place["nodeName"] = "n2"
            return False
        if mix.has(draw, "node-selector"):
            place["nodeSelector"], matches = _node_selector(draw, node)
            return matches
        if mix.has(draw, "all-nodes"):
            place["allNodes"] = True
        else:
            place["nodeName"] = "n1"
        return True

    def _counter_sets(self) -> list[Json]:
        draw = self._draw
        sets = []
        for number in range(draw.integer(1, 2)):
            counters = {name: {"value": str(draw.integer(2, 8))} for name in ("mem", "cpu")[: draw.integer(1, 2)]}
            sets.append({"name": f"cs{number}", "counters": counters})
        return sets

    def _counter_slices(self, node: Json) -> list[Json]:
        parts = [self._sets]
        if len(self._sets) > 1 and self._draw.chance(0.3):
            parts = [self._sets[:1], self._sets[1:]]
        made = []
        for number, part in enumerate(parts):
            one = self._slice(f"c{number}g{self._generation}")
            one["spec"]["sharedCounters"] = part
            self._place(one["spec"], node)
            made.append(one)
        return made

    def _break(self) -> None:
        draw = self._draw
        victim = draw.choice(self._slices)
        kind = draw.integer(0, 5)
        if kind == 0:
            victim["spec"]["pool"]["resourceSliceCount"] += 1
        elif kind == 1 and len(self._slices) > 1:
            self._slices.remove(victim)
        elif kind == 2:
            victim["spec"]["pool"]["generation"] += 1
        elif kind == 3 and victim["spec"].get("devices"):
            victim["spec"]["devices"].append(dict(draw.choice(victim["spec"]["devices"])))
        elif kind == 4:
            victim["spec"]["pool"]["resourceSliceCount"] = 1
        elif victim["spec"].get("devices"):
            uses = [{"counterSet": draw.choice(("cs0", "cs9")), "counters": {"gone": {"value": "1"}}}]
            draw.choice(victim["spec"]["devices"])["consumesCounters"] = uses

    def _add_old_generation(self, node: Json) -> None:
        current = self._generation
        self._generation = current - 1 if self._draw.chance(0.7) else current + 1
        old = self._device_slice(7, node, record=False)
        old["spec"]["pool"]["resourceSliceCount"] = self._draw.integer(1, 2)
        self._slices.append(old)
        self._generation = current


def _node_selector(draw: Chooser, node: Json) -> tuple[Json, bool]:
    labels: dict[str, str] = node["metadata"]["labels"]
    key = draw.choice(("zone", "rack"))
    value = labels[key] if draw.chance(0.8) else draw.choice(_ZONES)
    matches = value == labels[key]
    requirement = {"key": key, "operator": "In", "values": [value]}
    kind = draw.integer(0, 9)
    if kind == 0:
        requirement = {"key": key, "operator": "NotIn", "values": [value]}
        matches = not matches
    elif kind == 1:
        requirement["values"] = [value, "c"]
    elif kind == 2:
        requirement = {"key": key, "operator": "Exists"}
        matches = True
    if kind == 3:
        fields = [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]
        return {"nodeSelectorTerms": [{"matchFields": fields}]}, True
    terms: list[dict[str, Any]] = [{"matchExpressions": [requirement]}]
    if kind == 4 and draw.chance(0.3):
        terms.append({"matchExpressions": [{"key": "zone", "operator": "Exists"}]})
        matches = True
    elif kind == 5:
        terms[0]["matchExpressions"].append({"key": "rack", "operator": "Exists"})
    return {"nodeSelectorTerms": terms}, matches


def _hold_devices(into: DrawnCluster, draw: Chooser, mix: Mix) -> None:
    for placed in into.devices:
        if not mix.has(draw, "allocated"):
            continue
        shareable = placed.wire.get("allowMultipleAllocations") is True
        odd = mix.has(draw, "odd-state")
        if shareable != odd:
            _share(into, placed, draw, odd=odd)
        elif draw.chance(0.6):
            into.allocated.append(placed.id)
    if into.devices and mix.has(draw, "odd-state") and mix.has(draw, "allocated"):
        gone = draw.choice(into.devices)
        into.allocated.append([gone.driver, gone.pool, "gone"])


def _share(into: DrawnCluster, placed: DrawnDevice, draw: Chooser, *, odd: bool) -> None:
    kind = draw.integer(0, 5) if odd else 0
    if kind != 1:
        into.allocated_shared += [[*placed.id, f"share-{number}"] for number in range(draw.integer(1, 2))]
    capacity = placed.wire.get("capacity", {})
    if kind != 2 and capacity:
        used = {name: draw.choice(("1", "1", "2", "500m")) for name in capacity if draw.chance(0.8)}
        if used or kind:
            into.aggregated.append({"id": placed.id, "cap": used})
