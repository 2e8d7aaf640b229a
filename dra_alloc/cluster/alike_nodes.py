"""
Nodes that questions cannot tell apart.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from dra_alloc.api import Node, ResourceClaim
from dra_alloc.cel import CompileError
from dra_alloc.cel.reads import Read
from dra_alloc.problem.devices import DeviceKey, PoolKey, SliceRow
from dra_alloc.problem.pools import GatherError, Pool
from dra_alloc.solve.allocator import Allocator
from dra_alloc.solve.columns import AMOUNTS


class AlikeNodes:
    """
    Gives nodes a key that those have in common on which claims like the given ones fit equally.

    A node that cannot be compared with others has a key of its own.
    """

    def __init__(self, allocator: Allocator, claims: Sequence[ResourceClaim]) -> None:
        self._allocator = allocator
        self._reads = _reads(allocator, claims)
        usage = allocator.state.usage
        touched: dict[PoolKey, list[DeviceKey]] = {}
        for key in (*usage.exclusive, *usage.shared, *usage.consumed):
            touched.setdefault(PoolKey(key.driver, key.pool), []).append(key)
        self._touched = touched

    def key(self, node: Node) -> Hashable:
        """Return the node's key."""
        alone = node.metadata.name or ""
        if self._reads is None:
            return alone
        try:
            view = self._allocator.survey.view(node)
        except GatherError:
            return alone
        if not view.direct or any(not pool.usable or any(map(_has_devices, pool.others)) for pool in view.pools):
            return alone
        return tuple(self._pool(pool) for pool in view.pools)

    def _pool(self, pool: Pool) -> Hashable:
        survey = self._allocator.survey
        lists = survey.profile.cel_lists
        # Devices themselves are not looked at: there may be tens of thousands, and few kinds of slices.
        rows = tuple(filter(_has_devices, pool.slices))
        slices = tuple(survey.columns.signature(row, self._reads or (), lists=lists) for row in rows)
        return slices, tuple(pool.counters.items()), self._usage(pool.key, rows)

    def _usage(self, key: PoolKey, rows: Sequence[SliceRow]) -> Hashable:
        touched = self._touched.get(key)
        if not touched:
            return None
        usage = self._allocator.state.usage
        held = set(touched)
        return tuple(
            (
                number,
                device.key in usage.exclusive,
                device.key in usage.shared,
                tuple(sorted(usage.consumed.get(device.key, {}).items())),
            )
            for number, device in enumerate(device for row in rows for device in row.devices)
            if device.key in held
        )


def _has_devices(row: SliceRow) -> bool:
    return bool(row.wire.spec.devices)


def _reads(allocator: Allocator, claims: Sequence[ResourceClaim]) -> tuple[Read | str, ...] | None:
    """Return all that the claims can see of a device; None if that cannot be said."""
    found: set[Read | str] = {AMOUNTS}
    survey = allocator.survey
    try:
        for claim in claims:
            for _, _, wire in claim.spec.devices.asked():
                if wire.derived_attributes:
                    return None
                for selector in (*survey.find_class(wire.device_class_name).spec.selectors, *wire.selectors):
                    if selector.cel is None:
                        return None
                    found.update(survey.selection.program(selector.cel.expression).reads)
            for constraint in claim.spec.devices.constraints:
                found.add(Read.of_attribute("" if constraint.stated is None else constraint.stated.attribute))
    except (CompileError, LookupError, ValueError):
        return None
    return tuple(sorted(found, key=str))
