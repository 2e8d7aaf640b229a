"""
ResourceSlices and their devices as rows for the search.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final, NamedTuple
from weakref import ref

from dra_alloc.api import (
    Device,
    DeviceAttribute,
    DeviceCapacity,
    DeviceTaint,
    DeviceTaintRule,
    FrozenMap,
    ResourceSlice,
)
from dra_alloc.api.core.nodes import BARRING
from dra_alloc.manifest.make.layouts import Layout
from dra_alloc.manifest.make.outlines import Outline, outline_of
from dra_alloc.problem.publishing import published
from dra_alloc.problem.tainting import rules_for_pool, taints_for

#: What the constructor of a named tuple does, without its call in Python.
_MAKE: Final[Any] = tuple.__new__
_NONE: Final[frozenset[tuple[str, str]]] = frozenset()
_UNREAD: Final[tuple[object, Any]] = (None, None)
_NO_OFFER: Final[tuple[object, int]] = (None, 0)
_NOTHING_SEEN: Final[FrozenMap[Hashable, int]] = FrozenMap()


class PoolKey(NamedTuple):
    """A pool's identity: driver and pool name."""

    driver: str
    pool: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}"


class DeviceKey(NamedTuple):
    """A device's identity: driver, pool name and device name."""

    driver: str
    pool: str
    device: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}/{self.device}"


class DeviceRow:
    """
    One device of one slice, with what the rules look at already unpacked.

    `read` is what selectors last read it as, `offers` the number of what it offers to those who share
    it, `told` the last result that gave all of it to a request, with what that was made by. All live as long as the
    device.
    """

    __slots__ = (
        "_home",
        "attributes",
        "blocking_taints",
        "capacity",
        "consumes",
        "draws",
        "has_binding_conditions",
        "key",
        "offers",
        "pool",
        "read",
        "shareable",
        "taints",
        "told",
        "wide_counters",
        "wire",
    )

    def __init__(self, wire: Device, slice_row: SliceRow, home: _Home) -> None:
        self.wire = wire
        self._home = home
        self.pool = slice_row.pool
        self.key = DeviceKey(slice_row.driver, slice_row.pool.pool, wire.name)
        self.shareable = wire.allow_multiple_allocations is True
        self.attributes: Mapping[str, DeviceAttribute] = wire.attributes
        self.capacity: Mapping[str, DeviceCapacity] = wire.capacity
        uses = wire.consumes_counters
        self.draws = bool(uses)
        self.consumes: tuple[tuple[str, str, int], ...] = (
            tuple((use.counter_set, name, counter.value.nano) for use in uses for name, counter in use.counters.items())
            if uses
            else ()
        )
        self.wide_counters: frozenset[tuple[str, str]] = (
            frozenset(
                (use.counter_set, name) for use in uses for name, counter in use.counters.items() if counter.value.wide
            )
            if self.consumes
            else _NONE
        )
        taints = (*wire.taints, *taints_for(slice_row.taint_rules, wire.name)) if slice_row.taint_rules else wire.taints
        self.taints: tuple[DeviceTaint, ...] = taints
        self.blocking_taints: tuple[DeviceTaint, ...] = (
            tuple(taint for taint in taints if taint.effect in BARRING) if taints else ()
        )
        self.has_binding_conditions = bool(wire.binding_conditions)
        self.read: tuple[object, Any] = _UNREAD
        self.offers: tuple[object, int] = _NO_OFFER
        self.told: tuple[object, Any] = _UNREAD

    @property
    def slice(self) -> SliceRow:
        """Return the slice that has the device."""
        return self._home.row()

    def attribute(self, name: str) -> DeviceAttribute | None:
        """Return the attribute of a fully qualified name; the driver's own domain may be left out on the device."""
        found = self.attributes.get(name)
        if found is None:
            domain, slash, bare = name.partition("/")
            if slash and domain == self.key.driver:
                found = self.attributes.get(bare)
        return found

    def __repr__(self) -> str:
        return f"DeviceRow({self.key})"


class _Home:
    """
    The slice of devices, which does not keep it: the slice has them.

    With a cycle slices that a watch replaces would stay until the collector walks all objects.
    """

    __slots__ = ("_again", "_made_of", "_row")

    def __init__(self, row: SliceRow) -> None:
        self._row = ref(row)
        self._made_of = (row.wire, row.position, row.taint_rules, row.layout)
        self._again: SliceRow | None = None

    def row(self) -> SliceRow:
        """Return the slice; one that nobody has anymore is made again."""
        row = self._row() or self._again
        if row is None:
            row = self._again = SliceRow(*self._made_of)
        return row


class SliceRow:
    """
    One ResourceSlice with the taint rules for its pool; device rows are made on first touch and kept.

    `is_local`: nothing but its node's name says who sees it and its devices, and it has no counters to share.
    `columns` is where engines remember which slices look alike, and is shared by those that do; `layout` is what was
    noted of the devices when they were read, if they were.
    """

    __slots__ = (
        "__weakref__",
        "_consumed",
        "_devices",
        "_outline",
        "columns",
        "driver",
        "generation",
        "is_local",
        "layout",
        "name",
        "node_name",
        "pool",
        "position",
        "slice_count",
        "taint_rules",
        "wire",
    )

    def __init__(
        self,
        wire: ResourceSlice,
        position: int,
        taint_rules: Sequence[DeviceTaintRule] = (),
        layout: Layout | None = None,
    ) -> None:
        spec = wire.spec
        self.wire = wire
        self.position = position
        self.name = wire.metadata.name or ""
        self.driver = spec.driver
        pool = spec.pool
        self.pool: PoolKey = _MAKE(PoolKey, (spec.driver, pool.name))
        self.generation = pool.generation
        self.slice_count = pool.resource_slice_count
        self.node_name = spec.node_name or ""
        self.is_local = bool(
            spec.node_name
            and not spec.shared_counters
            and spec.per_device_node_selection is None
            and spec.node_selector is None
            and not spec.skip_node_operations
        )
        self.taint_rules = rules_for_pool(taint_rules, self.pool.driver, self.pool.pool) if taint_rules else ()
        self.columns: dict[Hashable, int] = _NOTHING_SEEN
        self._devices: tuple[DeviceRow, ...] | None = None
        self.layout = layout
        self._outline = None if layout is None else layout.outline
        self._consumed: frozenset[tuple[str, str]] | None = None

    @property
    def devices(self) -> tuple[DeviceRow, ...]:
        """Return the device rows in slice order."""
        rows = self._devices
        if rows is None:
            # Devices are told apart by identity: every thread must get the same.
            home = _Home(self)
            made = tuple([DeviceRow(device, self, home) for device in self.wire.spec.devices])
            rows = published(self, "_devices", made)
        return rows

    @property
    def outline(self) -> Outline:
        """Return what holds for the devices at large."""
        if self._outline is None:
            self._outline = outline_of(self.wire.spec.devices)
        return self._outline

    @property
    def plain(self) -> bool:
        """Return whether rules see nothing of devices but attributes, and plain capacity that is no debt."""
        return self.outline.simple and not self.taint_rules

    @property
    def consumed(self) -> frozenset[tuple[str, str]]:
        """Return the counters that devices consume, with their sets; the name is empty where a set has none of them."""
        if self._consumed is None:
            # Devices of a set mostly consume the same counters: a whole set of names is compared at once.
            known: dict[str, set[str]] = {}
            for device in self.wire.spec.devices:
                for use in device.consumes_counters:
                    names = known.setdefault(use.counter_set, set())
                    if not use.counters:
                        names.add("")
                    elif not use.counters.keys() <= names:
                        names.update(use.counters)
            self._consumed = frozenset((counter_set, name) for counter_set, names in known.items() for name in names)
        return self._consumed

    @property
    def per_device(self) -> bool:
        """Return whether every device says itself which nodes can use it."""
        return self.wire.spec.per_device_node_selection is True

    def __repr__(self) -> str:
        return f"SliceRow({self.name})"
