"""
What makes one answer better than another, beyond being the first.

An objective is a number of a finished answer, the less the better; `value` is
its definition. Engines that optimise must agree with it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final, Protocol, TypeVar, runtime_checkable

from dra_alloc.api import Device, Node, ResourceClaim
from dra_alloc.errors import InputError
from dra_alloc.problem.devices import DeviceKey, DeviceRow
from dra_alloc.problem.requests import claim_name
from dra_alloc.rules import Pick
from dra_alloc.solve.best.freedom import Freedom, sizes

#: So that sums stay within what CP-SAT computes with.
_DEAREST: Final = 10**12


def free_of_charge(node: Node) -> int:
    """Return 0: nodes cost nothing, only devices do."""
    return 0


def free_device(key: DeviceKey, device: Device) -> int:
    """Return 0: devices cost nothing, only nodes do."""
    return 0


@runtime_checkable
class Objective(Protocol):
    """
    One thing to make small, never below 0.

    The engines know the ones that are defined here, and no others.
    """

    name: ClassVar[str]

    def value(self, picks: Sequence[Pick], ranks: Sequence[int], freedom: Freedom) -> int:
        """Return the number of an answer: picks in order, and the rank of each request's alternative."""
        ...

    def sees(self, node: Node, devices: Iterable[DeviceRow]) -> Hashable:
        """Return what the number can depend on of a node that claims cannot see; None for nothing."""
        ...


@dataclass(frozen=True, slots=True)
class HighestRanked:
    """The sum of the ranks of the alternatives used; a request's first alternative has rank 0."""

    name: ClassVar[str] = "highest-ranked"

    def value(self, picks: Sequence[Pick], ranks: Sequence[int], freedom: Freedom) -> int:
        """Return the sum of the ranks."""
        return sum(ranks)

    def sees(self, node: Node, devices: Iterable[DeviceRow]) -> Hashable:
        """Return None."""
        return None


@dataclass(frozen=True, slots=True)
class FewestNodes:
    """The number of nodes used; those in `already`, by name, do not count."""

    already: frozenset[str] = frozenset()
    name: ClassVar[str] = "fewest-nodes"

    def value(self, picks: Sequence[Pick], ranks: Sequence[int], freedom: Freedom) -> int:
        """Return 1 for a node that counts."""
        return int(freedom.node.metadata.name not in self.already)

    def sees(self, node: Node, devices: Iterable[DeviceRow]) -> Hashable:
        """Return whether the node counts."""
        return node.metadata.name not in self.already


@dataclass(frozen=True, slots=True)
class Cheapest:
    """
    The sum of the prices of all picks and of the nodes used, in whole units of the caller's choice.

    `price` gets a device's key (driver, pool, device) and the device;
    `node_price` a node, which is paid for once and not at all if its name is
    in `already`. Where a price is asked for, InputError is raised for one that
    is no whole number from 0 to 10**12.
    """

    price: Callable[[DeviceKey, Device], int] = free_device
    node_price: Callable[[Node], int] = free_of_charge
    already: frozenset[str] = frozenset()
    name: ClassVar[str] = "cheapest"

    def value(self, picks: Sequence[Pick], ranks: Sequence[int], freedom: Freedom) -> int:
        """Return the sum of the prices."""
        return sum(self.device(pick.device) for pick in picks) + self.node(freedom.node)

    def sees(self, node: Node, devices: Iterable[DeviceRow]) -> Hashable:
        """Return all prices of the node."""
        return self.node(node), tuple(self.device(device) for device in devices)

    def device(self, device: DeviceRow) -> int:
        """Return the price of a device."""
        return _price(self.price(device.key, device.wire), str(device.key))

    def node(self, node: Node) -> int:
        """Return the price of using the node."""
        name = node.metadata.name or ""
        return 0 if name in self.already else _price(self.node_price(node), f"node {name}")


def _price(price: Any, of: str) -> int:
    if not isinstance(price, int) or not 0 <= price <= _DEAREST:
        raise InputError(f"the price of {of} is {price!r:.40}; prices are whole numbers from 0 to {_DEAREST:,}")
    return price


@dataclass(frozen=True, slots=True)
class LeastFragmented:
    """
    The summed size of devices that were free and no longer are, picked or not.

    A device is free if nothing holds or shares it and the counters left cover
    it. Sizes are in permille of the counters that it shares with others; a
    device without counters has size 1000. So the first slice of a GPU
    costs as much as the whole GPU, and a slice of one that is broken already
    costs what else it blocks.
    """

    name: ClassVar[str] = "least-fragmented"

    def value(self, picks: Sequence[Pick], ranks: Sequence[int], freedom: Freedom) -> int:
        """Return the summed size of what is lost."""
        size = sizes(freedom)
        return sum(size[device] for device in freedom.lost(picks))

    def sees(self, node: Node, devices: Iterable[DeviceRow]) -> Hashable:
        """Return None."""
        return None


@dataclass(frozen=True, slots=True)
class Stable:
    """
    How many devices of a previous answer are not picked for the same request again.

    `previous` holds, by claim (`namespace/name`) and request (`request` or
    `request/subrequest`), the devices it had; see :meth:`to`.
    """

    previous: Mapping[tuple[str, str], frozenset[DeviceKey]] = field(default_factory=dict)
    name: ClassVar[str] = "stable"

    @classmethod
    def to(cls, claims: Iterable[ResourceClaim]) -> Stable:
        """Return the objective that wants what these claims have in their status."""
        previous: dict[tuple[str, str], frozenset[DeviceKey]] = {}
        for claim in claims:
            results = () if claim.status.allocation is None else claim.status.allocation.devices.results
            for result in results:
                place = (claim_name(claim), result.request)
                device = DeviceKey(result.driver, result.pool, result.device)
                previous[place] = previous.get(place, frozenset()) | {device}
        return cls(previous)

    def wanted(self, claims: Iterable[str]) -> dict[tuple[str, str], frozenset[DeviceKey]]:
        """Return the part of the previous answer that concerns these claims."""
        asked = set(claims)
        return {place: devices for place, devices in self.previous.items() if place[0] in asked}

    def value(self, picks: Sequence[Pick], ranks: Sequence[int], freedom: Freedom) -> int:
        """Return the number of devices given up."""
        now: dict[tuple[str, str], set[DeviceKey]] = {}
        for ask, device in picks:
            now.setdefault((freedom.claims[ask.claim], ask.full_name), set()).add(device.key)
        wanted = self.wanted(freedom.claims)
        return sum(len(devices - now.get(place, set())) for place, devices in wanted.items())

    def sees(self, node: Node, devices: Iterable[DeviceRow]) -> Hashable:
        """Return the node's name if it has a device of the previous answer."""
        held = {key for keys in self.previous.values() for key in keys}
        return node.metadata.name if any(device.key in held for device in devices) else None


_O = TypeVar("_O", bound=Objective)


def knowing_nodes(objective: _O, names: Iterable[str]) -> _O:
    """Return the objective for which these nodes are in use already."""
    if isinstance(objective, (FewestNodes, Cheapest)):
        return replace(objective, already=objective.already | frozenset(names))
    return objective
