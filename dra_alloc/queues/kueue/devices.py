"""
The devices that Kueue looks at for a charge: in all slices, whether free or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from dra_alloc.api import Device, DeviceClass, ResourceSlice
from dra_alloc.api.slices import newest_slices
from dra_alloc.cel import CelDevice, CompileError, Environment, EvaluationError, prepare_device


class SelectorFailed(Exception):
    """A selector that cannot be compiled, or fails on a device: `number` of its list, with upstream's text."""

    def __init__(self, number: int, expression: str, text: str, *, compiles: bool) -> None:
        super().__init__(text)
        self.number = number
        self.expression = expression
        self.text = text
        self.compiles = compiles


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """A device, as it was published and as selectors read it."""

    driver: str
    wire: Device
    prepared: CelDevice


@dataclass(slots=True)
class SlicesSeen:
    """
    Slices in the order in which they are listed, classes by name, and what selectors are compiled in.
    """

    slices: Sequence[ResourceSlice]
    classes: Mapping[str, DeviceClass]
    environment: Environment
    _all: tuple[Seen, ...] | None = None
    _current: dict[str, tuple[Seen, ...]] = field(default_factory=dict)

    @property
    def devices(self) -> tuple[Seen, ...]:
        """All devices: of every generation, and of pools that lack slices, too."""
        if self._all is None:
            self._all = tuple(self._seen(self.slices))
        return self._all

    def current(self, driver: str) -> tuple[Seen, ...]:
        """Return the devices of a driver's complete pools, of the newest generation."""
        if driver not in self._current:
            pools: dict[str, list[ResourceSlice]] = {}
            for each in self.slices:
                if each.spec.driver == driver:
                    pools.setdefault(each.spec.pool.name, []).append(each)
            newest = [newest_slices(each) for each in pools.values()]
            complete = [each for each in newest if len(each) == each[0].spec.pool.resource_slice_count]
            self._current[driver] = tuple(self._seen(row for pool in complete for row in pool))
        return self._current[driver]

    def _seen(self, slices: Iterable[ResourceSlice]) -> Iterator[Seen]:
        for each in slices:
            for device in each.spec.devices:
                capacity = {name: amount.value for name, amount in device.capacity.items()}
                yield Seen(
                    each.spec.driver,
                    device,
                    prepare_device(
                        each.spec.driver,
                        device.attributes,
                        capacity,
                        device.allow_multiple_allocations,
                        self.environment.reading,
                    ),
                )

    def passing(self, devices: Iterable[Seen], expressions: Sequence[str]) -> Iterator[Seen]:
        """Yield the devices that pass all selectors, as far as somebody asks. Raises: SelectorFailed."""
        programs = []
        for number, expression in enumerate(expressions):
            try:
                programs.append(self.environment.compile(expression))
            except CompileError as error:
                raise SelectorFailed(number, expression, error.text, compiles=False) from None
        for device in devices:
            for number, program in enumerate(programs):
                try:
                    if not program.matches(device.prepared):
                        break
                except EvaluationError as error:
                    raise SelectorFailed(number, program.expression, error.text, compiles=True) from None
            else:
                yield device
