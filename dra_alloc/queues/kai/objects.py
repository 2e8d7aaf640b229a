"""
KAI's objects, read: queues with what they are due and may have, and the groups that pods are attached to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from dra_alloc.errors import Problem, Where, first_few, in_brief
from dra_alloc.manifest import Workload
from dra_alloc.pods.gangs.topology import TopologyConstraint
from dra_alloc.pods.gangs.trees import SubGroup
from dra_alloc.pods.workloads.reading import value_at
from dra_alloc.queues.kai.fair_share import UNLIMITED
from dra_alloc.queues.ledger import Grant, Key, QueueAccount, circles
from dra_alloc.queues.reading import ObjectReading, unserved
from dra_alloc.queues.topologies import NamedTopology, bound_topology, constrained, topology_of

GROUP: Final = "scheduling.run.ai"
#: The label by which nodes, queues and jobs are of one pool, which a scheduler of its own sees to.
POOL: Final = "kai.scheduler/node-pool"
#: What KAI's queues are about, in this order, and how its numbers are in ours: thousandths of a cpu, bytes, devices.
RESOURCES: Final[Mapping[str, float]] = {"cpu": 1, "memory": 1_000_000, "gpu": 1}
#: How deep groups may be below one another.
_DEEPEST: Final = 32


@dataclass(frozen=True, slots=True)
class KaiQueue:
    """A queue; its account has quota and limit of each resource, -1 for none, and `weights` what it gets beyond."""

    name: str
    account: QueueAccount[float]
    weights: Mapping[str, float]
    priority: int = 100
    created: str = ""

    def grant(self, resource: str) -> Grant[float]:
        """Return the quota and the limit of a resource."""
        return self.account.grants[resource,]


@dataclass(frozen=True, slots=True)
class KaiGroup:
    """A PodGroup: its queue and the groups below it; its pods name it by an annotation."""

    name: str
    queue: str
    root: SubGroup
    below: tuple[SubGroup, ...] = ()
    priority_class: str = ""
    preemptible: bool | None = None
    created: str = ""


@dataclass(frozen=True, slots=True)
class KaiObjects:
    """
    All of KAI's objects by name, groups as ``namespace/name``; what is wrong with them.

    Topologies are its own, and those of Grove's bindings: `bindings` are these by the names that Grove's sets give.
    `pooled` are the queues and groups that are of a pool of nodes.
    """

    queues: Mapping[str, KaiQueue] = field(default_factory=dict)
    groups: Mapping[str, KaiGroup] = field(default_factory=dict)
    topologies: Mapping[str, NamedTopology] = field(default_factory=dict)
    bindings: Mapping[str, NamedTopology] = field(default_factory=dict)
    wrong: tuple[tuple[Workload, Problem], ...] = ()
    pooled: frozenset[str] = frozenset()

    @classmethod
    def of(cls, objects: Iterable[Workload], namespace: str) -> KaiObjects:
        """
        Return the objects; the last of a name counts. `namespace` is that of groups that say none.

        Spec: KAI-10, KAI-11.
        """
        readings = [(each, ObjectReading(each.body, [])) for each in objects]
        wrong = unserved(each for each, _ in readings)
        topologies, bindings = _topologies(readings)
        queues: dict[str, KaiQueue] = {}
        groups: dict[str, KaiGroup] = {}
        written: dict[str, Workload] = {}
        pooled: list[str] = []
        for each, reading in readings:
            if (each.group, each.kind) == (GROUP, "Queue"):
                queues[each.name] = _queue(reading, each)
                written[each.name] = each
                pooled += [each.name] * (POOL in each.metadata.labels)
            elif (each.group, each.kind) == (GROUP, "PodGroup"):
                full = f"{each.namespace or namespace}/{each.name}"
                groups[full] = _group(reading, each, full, topologies)
                pooled += [full] * (POOL in each.metadata.labels)
            wrong += ((each, problem) for problem in reading.problems)
        wrong += _unrooted(queues, written)
        return cls(queues, groups, topologies, bindings, tuple(wrong), frozenset(pooled))

    @property
    def parents(self) -> frozenset[str]:
        """The queues that have others below them."""
        return frozenset(each.account.parent for each in self.queues.values())

    def under(self, name: str) -> Iterator[KaiQueue]:
        """Yield the queues right below one."""
        return (each for each in self.queues.values() if each.account.parent == name)


Topologies = dict[str, NamedTopology]
#: What a group may say of whether it can be evicted; without a word its priority says so.
_PREEMPTIBLE: Final[Mapping[str, bool]] = {"preemptible": True, "non-preemptible": False}


def _topologies(readings: Iterable[tuple[Workload, ObjectReading]]) -> tuple[Topologies, Topologies]:
    """Return KAI's topologies by name, and Grove's bindings by theirs: Grove makes a topology of each. Spec: KAI-22."""
    own: Topologies = {}
    bindings: Topologies = {}
    for each, reading in readings:
        if (each.group, each.kind) == ("kai.scheduler", "Topology"):
            own[each.name] = topology_of(reading)
        elif (each.group, each.kind) == ("grove.io", "ClusterTopologyBinding"):
            bindings[each.name] = bound_topology(reading)
    return {**bindings, **own}, bindings


def _queue(reading: ObjectReading, item: Workload) -> KaiQueue:
    grants: dict[Key, Grant[float]] = {}
    weights: dict[str, float] = {}
    for name, unit in RESOURCES.items():
        at = f"spec.resources.{name}"
        # What a queue does not say of a resource is 0: nothing is due, and nothing may be had.
        quota, limit = (reading.number(f"{at}.{each}", 0) for each in ("quota", "limit"))
        grants[name,] = Grant(_in_units(quota, unit), _in_units(limit, unit))
        weights[name] = max(0, reading.number(f"{at}.overQuotaWeight", 0))
    priority = reading.given("spec.priority", int, "a whole number")
    parent = reading.text("spec.parentQueue")
    created = item.metadata.creation_timestamp or ""
    account = QueueAccount(item.name, parent, grants)
    return KaiQueue(item.name, account, weights, 100 if priority is None else priority, created)


def _in_units(amount: float, unit: float) -> float:
    return UNLIMITED if amount == UNLIMITED else amount * unit


def _unrooted(queues: Mapping[str, KaiQueue], written: Mapping[str, Workload]) -> Iterator[tuple[Workload, Problem]]:
    """Yield queues whose parent is not there, and those below one another in a circle."""
    where = Where(path="spec.parentQueue")
    parents = {name: each.account.parent for name, each in queues.items()}
    for name, parent in parents.items():
        if parent and parent not in queues:
            yield written[name], Problem(f"there is no queue {in_brief(parent)}", where)
    for circle in circles(parents):
        said = f"queues are below one another in a circle: {first_few([in_brief(each) for each in circle])}"
        yield from ((written[each], Problem(said, where)) for each in circle)


def _group(reading: ObjectReading, item: Workload, full: str, topologies: Topologies) -> KaiGroup:
    least, groups = reading.whole("spec.minMember"), reading.whole("spec.minSubGroup")
    below = [_sub_group(reading, each, topologies) for each in reading.places("spec.subGroups")]
    _look_at(reading, below)
    preemptibility = reading.text("spec.preemptibility")
    if preemptibility and preemptibility not in _PREEMPTIBLE:
        reading.complain("spec.preemptibility", f"has to be {' or '.join(_PREEMPTIBLE)}")
    return KaiGroup(
        full,
        reading.text("spec.queue"),
        SubGroup(
            "", least=1 if least is None else least, least_groups=groups, topology=_packed(reading, "spec", topologies)
        ),
        tuple(below),
        reading.text("spec.priorityClassName"),
        _PREEMPTIBLE.get(preemptibility),
        item.metadata.creation_timestamp or "",
    )


def _sub_group(reading: ObjectReading, at: str, topologies: Topologies) -> SubGroup:
    name, parent = reading.needed(f"{at}.name"), reading.text(f"{at}.parent").lower()
    least, groups = reading.whole(f"{at}.minMember") or 0, reading.whole(f"{at}.minSubGroup")
    return SubGroup(name, parent, least, groups, _packed(reading, at, topologies))


def _packed(reading: ObjectReading, at: str, topologies: Topologies) -> TopologyConstraint:
    """Return where a group says that its pods go together."""
    at = f"{at}.topologyConstraint"
    said = (f"{at}.{each}" for each in ("topology", "requiredTopologyLevel", "preferredTopologyLevel"))
    name, required, preferred = map(reading.text, said)
    return constrained(topologies, name, required, preferred)


def _look_at(reading: ObjectReading, below: Sequence[SubGroup]) -> None:
    """Complain of groups that are no tree, or say what only groups of another kind can."""
    parents = {each.name: each.parent for each in below}
    _minima(reading, "spec", sum(not each.parent for each in below), top=True)
    for number, each in enumerate(below):
        at = f"spec.subGroups[{number}]"
        if any(each.name == other.name for other in below[:number]):
            reading.complain(f"{at}.name", f"there is a group {in_brief(each.name)} before")
        _minima(reading, at, list(parents.values()).count(each.name))
        if each.parent and each.parent not in parents:
            reading.complain(f"{at}.parent", f"there is no group {in_brief(each.parent)}")
            continue
        above, steps = each.parent, 0
        while above and steps <= min(len(below), _DEEPEST):
            above, steps = parents.get(above, ""), steps + 1
        if above:
            reading.complain(f"{at}.parent", f"groups are in a circle, or more than {_DEEPEST} deep")


def _minima(reading: ObjectReading, at: str, inner: int, *, top: bool = False) -> None:
    """Complain of what a group says of the least that it needs; it has so many groups below it."""
    pods, groups = (value_at(reading.body, f"{at}.{each}") for each in ("minMember", "minSubGroup"))
    if pods is not None and groups is not None:
        reading.complain(f"{at}.minSubGroup", "minMember and minSubGroup exclude each other")
    elif type(groups) is int and groups > inner:
        reading.complain(f"{at}.minSubGroup", f"needs {groups} groups, of {inner} below it")
    elif not top and inner and pods is not None:
        reading.complain(f"{at}.minMember", "a group of groups has minSubGroup, not minMember")
    elif not top and not inner and pods is None:
        reading.complain(f"{at}.minMember", "is missing")
