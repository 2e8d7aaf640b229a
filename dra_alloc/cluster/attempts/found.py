"""
What one attempt found out about the nodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Final

from dra_alloc.api import NodeAllocatableClaimStatus, ResourceClaim
from dra_alloc.cluster.attempts.queue import Queued
from dra_alloc.cluster.outcomes import NodeRefusal
from dra_alloc.cluster.standings import FITS, Asked
from dra_alloc.pods.attempts import Attempt
from dra_alloc.pods.objections import Objection

#: By code of a node, what makes 1 of that code and 0 of all others.
_ONLY: Final = tuple([bytes([each == code for each in range(256)]) for code in range(8)])


@dataclass(slots=True)
class DevicesSay:
    """What devices say to some nodes: the claims asked there, and the code of each node by place."""

    claims: Sequence[ResourceClaim]
    asked: Asked | None
    places: Sequence[int]
    codes: bytes | dict[int, int]

    def having(self, code: int) -> Sequence[int]:
        """Return the nodes with a code."""
        if self.asked is None:
            return self.places if code == FITS else ()
        codes = self.codes
        if not isinstance(codes, bytes):
            return [place for place in self.places if codes[place] == code]
        if code not in codes:
            return ()
        if len(self.places) == len(codes):
            return list(compress(self.places, codes.translate(_ONLY[code])))
        return [place for place in self.places if codes[place] == code]


@dataclass(slots=True)
class NodesFound:
    """
    What an attempt found out about the nodes; `known` are the pod's claims as they are now.

    Devices take `amounts` of some nodes, and others have something `against` that.
    """

    queued: Queued
    attempt: Attempt
    known: Sequence[ResourceClaim]
    objections: Mapping[int, Objection]
    elsewhere: dict[int, NodeRefusal] = field(default_factory=dict)
    missed: set[str] = field(default_factory=set)
    devices: list[DevicesSay] = field(default_factory=list)
    amounts: dict[int, tuple[NodeAllocatableClaimStatus, ...]] = field(default_factory=dict)
    against: dict[int, Objection] = field(default_factory=dict)
    _places: dict[int, Sequence[int]] = field(default_factory=dict)
    _at: dict[int, DevicesSay] = field(default_factory=dict)

    def places(self, code: int) -> Sequence[int]:
        """Return the nodes with a code, in order; for use when all is found out."""
        known = self._places.get(code)
        if known is None:
            found = [each.having(code) for each in self.devices]
            known = found[0] if len(found) == 1 else sorted(place for each in found for place in each)
            if self.elsewhere or self.against:
                known = [place for place in known if place not in self.elsewhere and place not in self.against]
            self._places[code] = known
        return known

    def at(self, place: int) -> DevicesSay:
        """Return what was asked of a node."""
        if len(self.devices) == 1:
            return self.devices[0]
        if not self._at:
            self._at = {place: each for each in self.devices for place in each.places}
        return self._at[place]
