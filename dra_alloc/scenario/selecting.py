"""
One selector, all devices: which match, which fail, and what it costs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dra_alloc import cel
from dra_alloc.api import ResourceSlice
from dra_alloc.scenario.settings import Settings

__all__ = ["DeviceVerdict", "Selected", "select"]


@dataclass(frozen=True, slots=True)
class DeviceVerdict:
    """What the selector says of one device: a match, no match, or upstream's error text with our hints."""

    driver: str
    pool: str
    device: str
    matches: bool
    cost: int
    error: str = ""
    hints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Selected:
    """
    A selector asked of devices.

    `max_cost` is the estimate that admission holds against its limit, `reads`
    what of a device the answer can depend on.
    """

    expression: str
    output_type: str
    max_cost: int
    reads: tuple[str, ...]
    devices: tuple[DeviceVerdict, ...]

    @property
    def matching(self) -> tuple[DeviceVerdict, ...]:
        """Return the devices that match."""
        return tuple(each for each in self.devices if each.matches)

    @property
    def failing(self) -> tuple[DeviceVerdict, ...]:
        """Return the devices on which the selector fails; each would end the scheduling attempt."""
        return tuple(each for each in self.devices if each.error)


def select(expression: str, slices: Iterable[ResourceSlice], settings: Settings, mode: str = "stored") -> Selected:
    """
    Return what the selector makes of every device of the slices, in order.

    Mode "stored" is kube-scheduler's environment, "new" the API server's for
    new objects.

    Raises: CompileError with upstream's text; InputError for settings.
    """
    gates = settings.effective_gates()
    profile = settings.profile()
    environment = cel.environment(
        profile.release,
        mode,
        profile.cel_lists if mode == "stored" else gates.get("DRAListTypeAttributes", False),
        consumable_capacity=gates.get("DRAConsumableCapacity", False),
    )
    program = environment.compile(expression)
    reads = tuple(" ".join(filter(None, (read.kind, "/".join(filter(None, read[1:]))))) for read in program.reads)
    verdicts = tuple(_verdicts(program, slices, lists=environment.lists))
    return Selected(expression, str(program.output_type), program.max_cost, reads, verdicts)


def _verdicts(program: cel.Program, slices: Iterable[ResourceSlice], *, lists: bool) -> Iterator[DeviceVerdict]:
    for each in slices:
        spec = each.spec
        for device in spec.devices:
            capacity = {name: amount.value for name, amount in device.capacity.items()}
            prepared = cel.prepare_device(
                spec.driver, device.attributes, capacity, device.allow_multiple_allocations, lists=lists
            )
            name = (spec.driver, spec.pool.name, device.name)
            cost = program.cost(prepared)
            try:
                yield DeviceVerdict(*name, program.matches(prepared), cost)
            except cel.EvaluationError as error:
                yield DeviceVerdict(*name, matches=False, cost=cost, error=error.text, hints=error.hints)
