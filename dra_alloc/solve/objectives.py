"""
What makes one answer better than another, beyond being the first.

An objective is a number of a finished answer, the less the better; `value` is
its definition. Engines that optimise must agree with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol, runtime_checkable

from dra_alloc.problem.devices import DeviceKey, DeviceRow
from dra_alloc.rules import Pick
from dra_alloc.solve.freedom import Freedom, sizes

__all__ = ["Cheapest", "HighestRanked", "LeastFragmented", "Objective", "Stable"]


@runtime_checkable
class Objective(Protocol):
    """One thing to make small."""

    name: ClassVar[str]

    def value(self, picks: Sequence[Pick], ranks: Sequence[int], freedom: Freedom) -> int:
        """Return the number of an answer: picks in order, and the rank of each request's alternative."""
        ...


@dataclass(frozen=True, slots=True)
class HighestRanked:
    """The sum of the ranks of the alternatives used; a request's first alternative has rank 0."""

    name: ClassVar[str] = "highest-ranked"

    def value(self, picks: Sequence[Pick], ranks: Sequence[int], freedom: Freedom) -> int:
        """Return the sum of the ranks."""
        return sum(ranks)


@dataclass(frozen=True, slots=True)
class Cheapest:
    """The sum of the prices of all picks, in whole units of the caller's choice."""

    price: Callable[[DeviceRow], int]
    name: ClassVar[str] = "cheapest"

    def value(self, picks: Sequence[Pick], ranks: Sequence[int], freedom: Freedom) -> int:
        """Return the sum of the prices."""
        return sum(self.price(pick.device) for pick in picks)


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


@dataclass(frozen=True, slots=True)
class Stable:
    """
    How many devices of a previous answer are not picked for the same request again.

    `previous` holds, by claim index and request (`request` or
    `request/subrequest`), the devices it had.
    """

    previous: Mapping[tuple[int, str], frozenset[DeviceKey]] = field(default_factory=dict)
    name: ClassVar[str] = "stable"

    def value(self, picks: Sequence[Pick], ranks: Sequence[int], freedom: Freedom) -> int:
        """Return the number of devices given up."""
        now: dict[tuple[int, str], set[DeviceKey]] = {}
        for ask, device in picks:
            now.setdefault((ask.claim, ask.full_name), set()).add(device.key)
        return sum(len(devices - now.get(request, set())) for request, devices in self.previous.items())
