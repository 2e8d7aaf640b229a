"""
Counts, per request and pool, of the devices that fell to each rule, as values.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from typing import Final

#: What devices fall to while a gate is off.
_GATED: Final = frozenset({"binding-conditions-disabled", "counters-disabled", "node-operations"})
_WORD: Final = re.compile(r"[^\s,;:()]+")


def number_of_devices(count: int) -> str:
    """Return a number of devices in words."""
    return f"{count} {'device' if count == 1 else 'devices'}"


@dataclass(frozen=True, slots=True)
class Group:
    """Devices of one pool that one rule refused for the same reason; `holders` are the claims behind it."""

    code: str
    detail: str
    devices: tuple[str, ...]
    holders: tuple[str, ...] = ()


def _nameless(group: Group) -> str:
    """Return what is told of devices that somebody holds without who it is."""
    told, names = "" if group.code == "device-in-use" else group.detail, group.holders
    return _WORD.sub(lambda word: "" if word[0] in names else word[0], told) if names else told


@dataclass(frozen=True, slots=True)
class PoolTally:
    """
    What became of one pool's devices.

    `state` is empty, or says why the whole pool offers none.
    """

    driver: str
    pool: str
    devices: int
    usable: tuple[str, ...]
    groups: tuple[Group, ...]
    state: str = ""
    _shape: object = field(default=None, init=False, repr=False, compare=False)

    @property
    def shape(self) -> object:
        """Return the counts without the names, worked out once: what is told of several requests is compared."""
        if self._shape is None:
            groups = tuple([(group.code, _nameless(group), len(group.devices)) for group in self.groups])
            found = self.driver, self.devices, len(self.usable), self.state.partition(":")[0], groups
            object.__setattr__(self, "_shape", found)
        return self._shape


@dataclass(frozen=True, slots=True)
class RequestTally:
    """
    One request, or one alternative of it: how many devices it needs and how many it could have.

    With `shares_name` another claim asked about has a request of that name;
    `resource` is the extended resource that a pod asked for, if there is no
    request of a person.
    """

    claim: str
    request: str
    needed: int
    takes_all: bool
    pools: tuple[PoolTally, ...]
    shares_name: bool = False
    resource: str = ""

    def of_claim(self, claim: str) -> RequestTally:
        """Return the same of a claim of another name; see `NodeRefusal.counting`."""
        return RequestTally(
            claim, self.request, self.needed, self.takes_all, self.pools, self.shares_name, self.resource
        )

    @property
    def called(self) -> str:
        """Return what the request is called, with its claim where the name alone does not say which it is."""
        return self.resource or f'request "{self.request}"{f" of claim {self.claim}" if self.shares_name else ""}'

    @property
    def usable(self) -> int:
        """Return how many devices it could have."""
        return sum(len(pool.usable) for pool in self.pools)

    @property
    def gated(self) -> int:
        """Return how many devices a gate that is off keeps back."""
        return sum(len(each.devices) for pool in self.pools for each in pool.groups if each.code in _GATED)

    @property
    def short(self) -> bool:
        """Return whether it cannot be served."""
        return self.usable < self.needed or (self.takes_all and not self.needed)


@dataclass(frozen=True, slots=True)
class Explanation:
    """
    Why the claims do not fit on one node.

    `placed` is empty if a request is short by itself. Otherwise the requests
    are short only after these picks, the most that could be placed. `cause`
    says it in a sentence, as far as there is one.
    """

    requests: tuple[RequestTally, ...]
    placed: tuple[tuple[str, str, str], ...] = ()
    cause: str = ""

    @property
    def short_of(self) -> int:
        """Return how many devices are missing besides those that a gate keeps back: less is nearer."""
        if not self.requests:
            return sys.maxsize
        return sum(
            max(each.needed - each.usable - each.gated, int(each.short and not each.gated)) for each in self.requests
        )

    @property
    def shape(self) -> object:
        """Return what makes two nodes' reasons the same to a reader: all but the names of pools and devices."""
        return tuple(
            [(each.request, each.needed, tuple([pool.shape for pool in each.pools])) for each in self.requests]
        )


NOTHING: Final = Explanation(())
