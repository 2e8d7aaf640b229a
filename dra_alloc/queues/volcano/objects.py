"""
Volcano's objects, read: queues with what they may have, PodGroups, and what its scheduler is configured with.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from dra_alloc.api import Quantity
from dra_alloc.errors import Problem, Where, first_few, in_brief
from dra_alloc.manifest import Workload
from dra_alloc.pods.workloads.reading import items, text, value_at
from dra_alloc.queues.ledger import circles
from dra_alloc.queues.reading import ObjectReading, Wrong, unserved

GROUP: Final = "scheduling.volcano.sh"
#: The queue of what names none, which is always there, as is the one above all.
DEFAULT: Final = "default"
ROOT: Final = "root"
DRA: Final = "DynamicResourceAllocationEnable"
CONSUMABLE: Final = "DRAConsumableCapacityEnable"
_CONFIGURED: Final = re.compile(r"^\s*-?\s*capacity\.(\w+)\s*:\s*[\"']?(true|false)\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class VolcanoQueue:
    """A queue: amounts by resource that it may have at most, and that are kept for it; `parent` is the one above."""

    name: str
    parent: str = ""
    capability: Mapping[str, Quantity] = field(default_factory=dict)
    guarantee: Mapping[str, Quantity] = field(default_factory=dict)
    closed: bool = False


@dataclass(frozen=True, slots=True)
class VolcanoGroup:
    """
    A PodGroup: its queue, how many pods it needs, of which tasks how many, and what it has to have room for.

    It `is_packed` if a network topology is a must for it or for parts of it, or if it needs so many of these.
    """

    name: str
    queue: str
    least: int
    tasks: Mapping[str, int] = field(default_factory=dict)
    minimum: Mapping[str, Quantity] | None = None
    priority_class: str = ""
    created: str = ""
    is_packed: bool = False


@dataclass(frozen=True, slots=True)
class VolcanoObjects:
    """All of Volcano's objects by name, groups as ``namespace/name``; gates as configured, and what is wrong."""

    queues: Mapping[str, VolcanoQueue] = field(default_factory=dict)
    groups: Mapping[str, VolcanoGroup] = field(default_factory=dict)
    gates: Mapping[str, bool] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    wrong: tuple[tuple[Workload, Problem], ...] = ()
    assumes_default: bool = False

    @classmethod
    def of(cls, objects: Iterable[Workload], namespace: str) -> VolcanoObjects:
        """
        Return the objects; the last of a name counts. `namespace` is that of groups that say none.

        Spec: VOLCANO-10.
        """
        wrong: Wrong = []
        queues: dict[str, VolcanoQueue] = {}
        groups: dict[str, VolcanoGroup] = {}
        written: dict[str, Workload] = {}
        configured: dict[str, bool] | None = None
        for each in objects:
            reading = ObjectReading(each.body, [])
            if each.kind == "ConfigMap":
                configured = dict(_configured(each))
            elif (each.group, each.kind) == (GROUP, "Queue"):
                queues[each.name], written[each.name] = _queue(reading, each), each
            elif (each.group, each.kind) == (GROUP, "PodGroup"):
                full = f"{each.namespace or namespace}/{each.name}"
                groups[full] = _group(reading, each, full)
            wrong += (*unserved((each,)), *((each, problem) for problem in reading.problems))
        assumed = DEFAULT not in queues
        queues.setdefault(DEFAULT, VolcanoQueue(DEFAULT))
        wrong += _unrooted(queues, written)
        gates, notes = _gates(configured, queues.values())
        return cls(queues, groups, gates, tuple(notes), tuple(wrong), assumed)

    def line(self, name: str) -> Iterator[VolcanoQueue]:
        """Yield a queue and those above it."""
        while name in self.queues:
            yield self.queues[name]
            name = self.queues[name].parent


def _configured(item: Workload) -> Iterator[tuple[str, bool]]:
    """Yield the arguments of the plugin capacity in a scheduler's configuration."""
    data = item.body.get("data")
    for each in data.values() if isinstance(data, Mapping) else ():
        for name, value in _CONFIGURED.findall(each) if isinstance(each, str) else ():
            yield name, value == "true"


def _gates(
    configured: Mapping[str, bool] | None, queues: Iterable[VolcanoQueue]
) -> tuple[Mapping[str, bool], Iterator[str]]:
    """Return what is on; without a configuration what a queue says anything of is taken as on."""
    keys = [key for each in queues for key in each.capability]
    if configured is not None:
        off = not configured.get(DRA, False) and any("deviceclass/" in key for key in keys)
        said = (
            f"capacity.{DRA} is off in the scheduler's configuration: what queues say of device classes limits nothing"
        )
        return {DRA: False, CONSUMABLE: False, **configured}, iter([said] if off else [])
    gates = {
        DRA: any("deviceclass/" in key for key in keys),
        CONSUMABLE: any(".deviceclass/" in key for key in keys),
    }
    on = [f"capacity.{name}" for name, value in gates.items() if value]
    said = (
        f"there is no ConfigMap of Volcano's scheduler: {' and '.join(on)} taken as on, as queues limit device classes"
    )
    return gates, iter([said] if on else [])


def _queue(reading: ObjectReading, item: Workload) -> VolcanoQueue:
    parent = reading.text("spec.parent", ROOT)
    reading.whole("spec.weight", least=1)
    _look_at(reading)
    return VolcanoQueue(
        item.name,
        "" if item.name == ROOT else parent,
        reading.quantities("spec.capability"),
        reading.quantities("spec.guarantee.resource"),
        text(item.body, "status.state", "Open") != "Open",
    )


def _look_at(reading: ObjectReading) -> None:
    """Complain of amounts that Volcano refuses: guaranteed, deserved and capability are each at most the next."""
    paths = ("spec.guarantee.resource", "spec.deserved", "spec.capability")
    amounts = [reading.quantities(each) for each in paths]
    for path, those in zip(paths, amounts, strict=True):
        for name, amount in those.items():
            if amount.nano < 0:
                reading.complain(f"{path}[{name}]", "has to be at least 0")
    for number, above in ((0, 1), (1, 2), (0, 2)):
        for name, amount in amounts[number].items():
            most = amounts[above].get(name)
            if most is not None and amount > most:
                reading.complain(f"{paths[number]}[{name}]", f"is more than {paths[above]} has, which is {most}")


def _unrooted(queues: dict[str, VolcanoQueue], written: Mapping[str, Workload]) -> Iterator[tuple[Workload, Problem]]:
    """Yield queues whose parent is not there, and those in a circle; what is below the root alone is below nobody."""
    for name, each in list(queues.items()):
        if each.parent == ROOT and ROOT not in queues:
            queues[name] = VolcanoQueue(name, "", each.capability, each.guarantee, each.closed)
        elif each.parent and each.parent not in queues:
            yield written[name], Problem(f"there is no queue {in_brief(each.parent)}", Where(path="spec.parent"))
    for circle in circles({name: each.parent for name, each in queues.items()}):
        for number, name in enumerate(circle):
            line = [*circle[number:], *circle[:number]]
            said = f"queues are below one another in a circle: {first_few([in_brief(each) for each in line])}"
            yield written[name], Problem(said, Where(path="spec.parent"))


def _group(reading: ObjectReading, item: Workload, full: str) -> VolcanoGroup:
    tasks = reading.given("spec.minTaskMember", Mapping, "an object") or {}
    for name, least in tasks.items():
        if type(least) is not int or least < 0:
            reading.complain(f"spec.minTaskMember[{name}]", "has to be a whole number, at least 0")
    least = reading.whole("spec.minMember")
    asked = reading.quantities("spec.minResources")
    return VolcanoGroup(
        full,
        reading.text("spec.queue", DEFAULT),
        1 if least is None else least,
        {name: least for name, least in tasks.items() if type(least) is int},
        asked if value_at(item.body, "spec.minResources") is not None else None,
        reading.text("spec.priorityClassName"),
        item.metadata.creation_timestamp or "",
        in_domains(value_at(item.body, "spec")) or any(map(in_domains, items(item.body, "spec.subGroupPolicy"))),
    )


def in_domains(part: Any) -> bool:
    """Return whether pods have to be in a domain of the network, as they have without a word, or in so many parts."""
    topology = value_at(part, "networkTopology")
    must = isinstance(topology, Mapping) and text(topology, "mode", "hard") != "soft"
    return must or any(value_at(part, each) for each in ("minSubGroups", "minPartitions"))
