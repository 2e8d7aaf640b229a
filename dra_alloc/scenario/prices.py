"""
A price list of devices and nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dra_alloc.api import Device, DeviceAttribute, Node
from dra_alloc.errors import ManifestError, Problem, Where
from dra_alloc.problem.devices import DeviceKey
from dra_alloc.solve.best.objectives import Cheapest

#: Sums of some thousand of these stay far from the solver's limits.
MOST: Final = 10**12


@dataclass(frozen=True, slots=True)
class _DevicePrice:
    place: str
    price: int
    names: Mapping[str, str]
    attributes: Mapping[str, Any]

    def is_for(self, key: DeviceKey, device: Device) -> bool:
        own = {"driver": key.driver, "pool": key.pool, "device": key.device}
        if any(own[member] != name for member, name in self.names.items()):
            return False
        return all(_has(device, key.driver, name, value) for name, value in self.attributes.items())


@dataclass(frozen=True, slots=True)
class _NodePrice:
    place: str
    price: int
    names: Mapping[str, str]
    labels: Mapping[str, str]

    def is_for(self, node: Node) -> bool:
        if self.names and self.names["name"] != node.metadata.name:
            return False
        return all(node.metadata.labels.get(label) == value for label, value in self.labels.items())


def _has(device: Device, driver: str, name: str, value: Any) -> bool:
    domain, slash, bare = name.partition("/")
    found = device.attributes.get(name)
    if found is None and slash and domain == driver:
        found = device.attributes.get(bare)
    if found is None and not slash:
        found = device.attributes.get(f"{driver}/{name}")
    return found is not None and _plain(found) == (type(value), value)


def _plain(attribute: DeviceAttribute) -> tuple[type, Any]:
    values = (attribute.string, attribute.version, attribute.int_, attribute.bool_)
    value = next((each for each in values if each is not None), None)
    return type(value), value


def cheapest_by(document: Any, file: str = "") -> Cheapest:
    """
    Return the objective of a price list: ``devices`` and ``nodes``, each a list of entries.

    The first entry that is for a device or node says its price; without one
    it costs nothing. An entry for devices has ``price`` and any of ``driver``,
    ``pool``, ``device`` and ``attributes``; one for nodes ``price`` and any of
    ``name`` and ``labels``. Prices are whole numbers.

    Raises: ManifestError with everything that is wrong with the list.
    """
    reading = _Reading(file)
    top = reading.mapping(document, "", {"devices", "nodes"})
    devices = [
        _DevicePrice(path, reading.price(entry, path), reading.names(entry, path, ("driver", "pool", "device")), told)
        for path, entry in reading.entries(top, "devices", {"price", "driver", "pool", "device", "attributes"})
        for told in [reading.values(entry, path, "attributes", (str, int, bool))]
    ]
    nodes = [
        _NodePrice(path, reading.price(entry, path), reading.names(entry, path, ("name",)), told)
        for path, entry in reading.entries(top, "nodes", {"price", "name", "labels"})
        for told in [reading.values(entry, path, "labels", (str,))]
    ]
    if not devices and not nodes:
        reading.wrong("", "a price list needs an entry under devices or nodes")
    if reading.problems:
        raise ManifestError(reading.problems)
    return Cheapest(_DevicePrices(devices), _NodePrices(nodes))


def has_price(objective: Cheapest, node: Node) -> bool:
    """Return whether a price list says what the node costs, for nothing included."""
    prices = objective.node_price
    return not isinstance(prices, _NodePrices) or any(entry.is_for(node) for entry in prices.entries)


def idle_entries(
    objective: Cheapest, devices: Iterable[tuple[DeviceKey, Device]], nodes: Iterable[Node]
) -> list[tuple[str, bool]]:
    """
    Return the entries of a price list that say the price of nothing, and whether only earlier entries are to blame.

    Nothing of prices that are no such list.
    """
    idle: list[tuple[str, bool]] = []
    if isinstance(objective.price, _DevicePrices):
        idle += _idle(objective.price.entries, devices, lambda entry, each: entry.is_for(*each))
    if isinstance(objective.node_price, _NodePrices):
        idle += _idle(objective.node_price.entries, nodes, lambda entry, each: entry.is_for(each))
    return idle


def _idle(entries: Sequence[Any], things: Iterable[Any], is_for: Callable[[Any, Any], bool]) -> list[tuple[str, bool]]:
    left = list(entries)
    hidden: set[str] = set()
    for each in things:
        if not left:
            break
        fitting = [entry for entry in entries if is_for(entry, each)]
        hidden.update(entry.place for entry in fitting[1:])
        if fitting and fitting[0] in left:
            left.remove(fitting[0])
    return [(entry.place, entry.place in hidden) for entry in left]


@dataclass(frozen=True, slots=True)
class _DevicePrices:
    entries: Sequence[_DevicePrice]

    def __call__(self, key: DeviceKey, device: Device) -> int:
        return next((entry.price for entry in self.entries if entry.is_for(key, device)), 0)


@dataclass(frozen=True, slots=True)
class _NodePrices:
    entries: Sequence[_NodePrice]

    def __call__(self, node: Node) -> int:
        return next((entry.price for entry in self.entries if entry.is_for(node)), 0)


class _Reading:
    """One list under way, with what is wrong with it."""

    def __init__(self, file: str) -> None:
        self._file = file
        self.problems: list[Problem] = []

    def wrong(self, path: str, message: str) -> None:
        """Note a problem."""
        self.problems.append(Problem(message, Where(path=path, file=self._file)))

    def mapping(self, value: Any, path: str, known: set[str]) -> dict[str, Any]:
        """Return the value if it is a mapping of known members, else an empty one."""
        if not isinstance(value, dict):
            self.wrong(path, f"has to be a mapping of {', '.join(sorted(known))}")
            return {}
        for name in sorted(map(str, value.keys() - known)):
            self.wrong(path, f'unknown field "{name}"; known are {", ".join(sorted(known))}')
        return value

    def entries(self, top: dict[str, Any], name: str, known: set[str]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the entries of a list with their paths."""
        listed = top.get(name) or []
        if not isinstance(listed, list):
            self.wrong(name, "has to be a list")
            return
        for number, entry in enumerate(listed):
            path = f"{name}[{number}]"
            yield path, self.mapping(entry, path, known)

    def price(self, entry: dict[str, Any], path: str) -> int:
        """Return the entry's price."""
        price = entry.get("price")
        if isinstance(price, bool) or not isinstance(price, int) or not 0 <= price <= MOST:
            self.wrong(f"{path}.price", f"has to be a whole number from 0 to {MOST}")
            return 0
        return price

    def names(self, entry: dict[str, Any], path: str, members: Sequence[str]) -> dict[str, str]:
        """Return the names that the entry is for."""
        found = {}
        for member in members:
            name = entry.get(member)
            if name is None:
                continue
            if not isinstance(name, str):
                self.wrong(f"{path}.{member}", "has to be a string")
            else:
                found[member] = name
        return found

    def values(self, entry: dict[str, Any], path: str, member: str, kinds: tuple[type, ...]) -> dict[str, Any]:
        """Return the values that the entry is for."""
        values = entry.get(member) or {}
        if not isinstance(values, dict):
            self.wrong(f"{path}.{member}", "has to be a mapping of names to values")
            return {}
        for name, value in values.items():
            if not isinstance(value, kinds):
                self.wrong(f"{path}.{member}.{name}", f"has to be {' or '.join(kind.__name__ for kind in kinds)}")
        return values
