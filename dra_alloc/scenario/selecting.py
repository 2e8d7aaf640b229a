"""
One selector, all devices: which match, which fail and why, and what it costs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from dra_alloc import cel
from dra_alloc.api import ResourceSlice
from dra_alloc.cluster.settings import Settings
from dra_alloc.work import BudgetExhausted, ran_out

#: How much of a device is shown for a selector that reads all of it.
_MOST_VALUES = 64


@dataclass(frozen=True, slots=True)
class DeviceVerdict:
    """
    What the selector says of one device: a match, no match, or upstream's error text with our hints.

    `values` are what the selector reads of the device, as text.
    """

    driver: str
    pool: str
    device: str
    matches: bool
    cost: int | None
    error: str = ""
    hints: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    undecided: bool = False

    @property
    def said(self) -> str:
        """The verdict in words."""
        if self.undecided:
            return "undecided, the budget ran out"
        return f"fails: {self.error}" if self.error else "matches" if self.matches else "does not match"


@dataclass(frozen=True, slots=True)
class Selected:
    """
    A selector asked of devices, one that reads nothing of them once for all; the rest is `undecided`, if work ran out.

    `max_cost` is the estimate that admission holds against its limit, `reads`
    what of a device the answer can depend on, `hints` what we would advise for
    the devices at hand.
    """

    expression: str
    output_type: str
    max_cost: int
    reads: tuple[str, ...]
    devices: tuple[DeviceVerdict, ...]
    hints: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def undecided(self) -> tuple[DeviceVerdict, ...]:
        """Return the devices that the selector was not asked about, as the budget ran out."""
        return tuple(each for each in self.devices if each.undecided)

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
    environment = environment_for(settings, mode)
    program = environment.compile(expression)
    devices = tuple(prepared_devices(slices, environment.reading))
    verdicts = tuple(_verdicts(program, devices))
    hints: tuple[str, ...] = ()
    if any(each.error for each in verdicts):
        hints = cel.missing_hints(program, [device for _, device in devices])
    kind = str(program.output_type)
    return Selected(expression, kind, program.max_cost, _read_names(program), verdicts, hints, ran_out())


def matched(expression: str, slices: Iterable[ResourceSlice], settings: Settings) -> set[tuple[str, str, str]]:
    """
    Return the driver, pool and name of each device that a selector matches; none of those on which it fails.

    Raises: CompileError with upstream's text; BudgetExhausted.
    """
    environment = environment_for(settings, "stored")
    program = environment.compile(expression)
    found = set()
    for names, device in prepared_devices(slices, environment.reading):
        with suppress(cel.EvaluationError):
            if program.matches(device):
                found.add(names)
    return found


def environment_for(settings: Settings, mode: str) -> cel.Environment:
    """Return what selectors are compiled in: "stored" is kube-scheduler's, "new" the API server's for new objects."""
    gates = settings.effective_gates()
    profile = settings.profile()
    return cel.environment(
        profile.release,
        mode,
        profile.cel_lists if mode == "stored" else gates.get("DRAListTypeAttributes", False),
        consumable_capacity=gates.get("DRAConsumableCapacity", False),
    )


def prepared_devices(
    slices: Iterable[ResourceSlice], reading: cel.Reading
) -> Iterator[tuple[tuple[str, str, str], cel.CelDevice]]:
    """Yield the devices of the slices as selectors read them, each with its driver, pool and name."""
    for each in slices:
        spec = each.spec
        for device in spec.devices:
            capacity = {name: amount.value for name, amount in device.capacity.items()}
            prepared = cel.prepare_device(
                spec.driver, device.attributes, capacity, device.allow_multiple_allocations, reading
            )
            yield (spec.driver, spec.pool.name, device.name), prepared


def _verdicts(
    program: cel.Program, devices: Iterable[tuple[tuple[str, str, str], cel.CelDevice]]
) -> Iterator[DeviceVerdict]:
    """Yield what the selector says of each device."""
    alike: DeviceVerdict | None = None
    for names, device in devices:
        if alike is not None and not device.problem:
            yield replace(alike, driver=names[0], pool=names[1], device=names[2])
            continue
        try:
            found = _verdict(program, names, device)
        except BudgetExhausted:
            yield DeviceVerdict(*names, matches=False, cost=None, undecided=True)
            continue
        if not (program.reads or device.problem):
            alike = found
        yield found


def _verdict(program: cel.Program, names: tuple[str, str, str], device: cel.CelDevice) -> DeviceVerdict:
    cost, values = program.cost(device), _values(program, device)
    try:
        return DeviceVerdict(*names, program.matches(device), cost, values=values)
    except cel.EvaluationError as error:
        hints = cel.evaluation_hints(error.text, program, device)
        return DeviceVerdict(*names, matches=False, cost=cost, error=error.text, hints=hints, values=values)


def _read_names(program: cel.Program) -> tuple[str, ...]:
    return tuple(_read_name(read) for read in program.reads)


def _read_name(read: cel.Read) -> str:
    return " ".join(filter(None, (read.kind, "/".join(filter(None, read[1:])))))


def _values(program: cel.Program, device: cel.CelDevice) -> tuple[str, ...]:
    """Return what the selector reads of a device, with what stands there."""
    found: list[str] = []
    for read in program.reads:
        if read.kind == "device":
            found += _everything(device)
        else:
            found.append(f"{_read_name(read)} {_found(read, device)}")
    return tuple(found[:_MOST_VALUES])


def _everything(device: cel.CelDevice) -> Iterator[str]:
    yield f"driver = {_shown(device.driver)}"
    for kind, domains in (("attribute", device.attributes), ("capacity", device.capacity)):
        for domain, names in domains.items():
            yield from (f"{kind} {domain}/{name} = {_shown(value)}" for name, value in names.items())


def _found(read: cel.Read, device: cel.CelDevice) -> str:
    match read.kind:
        case "driver":
            return f"= {_shown(device.driver)}"
        case "multi":
            return f"= {_shown(device.multi)}"
        case "attribute domain" | "capacity domain":
            domains = device.attributes if read.kind == "attribute domain" else device.capacity
            return "is there" if read.domain in domains else "is missing"
        case _:
            domains = device.attributes if read.kind == "attribute" else device.capacity
            names = domains.get(read.domain, {})
            return f"= {_shown(names[read.name])}" if read.name in names else "is missing"


def _shown(value: Any) -> str:
    """Return a value as a selector would write it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_shown, value)) + "]"
    if isinstance(value, int):
        return str(value)
    from dra_alloc.cel.library.quantity import CelQuantity  # noqa: PLC0415 - most manifests have no selector to show

    return f'{"quantity" if isinstance(value, CelQuantity) else "semver"}("{value}")'
