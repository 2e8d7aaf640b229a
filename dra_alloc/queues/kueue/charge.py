"""
What Kueue charges a pod for the claims that are made from its templates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from dra_alloc.api import (
    DeviceClass,
    DeviceSelector,
    ExactDeviceRequest,
    Quantity,
    ResourceClaimSpec,
    ResourceClaimTemplate,
)
from dra_alloc.queues.kueue.amounts import capacity_drawn, counter_drawn, total
from dra_alloc.queues.kueue.devices import Seen, SelectorFailed, SlicesSeen
from dra_alloc.queues.kueue.mappings import DeviceClassMapping, Source
from dra_alloc.queues.kueue.matching import matched
from dra_alloc.queues.systems import QueueDefect, QueueSystem


class ChargeRefused(Exception):
    """
    A pod that cannot be charged, so that its Workload is not admitted.

    `code` is why. With `retryable` Kueue tries again by itself, else objects
    have to change. `detail` is as Kueue says it, with the template's name.
    """

    def __init__(self, code: str, detail: str, *, retryable: bool = False) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.retryable = retryable


@dataclass(frozen=True, slots=True)
class DeviceCharge:
    """What one pod is charged, by the names of mappings; or why it cannot be: code, detail, whether Kueue retries."""

    amounts: Mapping[str, Quantity] = field(default_factory=dict)
    refusal: tuple[str, str, bool] | None = None

    @property
    def refused(self) -> ChargeRefused | None:
        """A new exception for whoever raises it, if it cannot be charged."""
        if self.refusal is None:
            return None
        code, detail, retryable = self.refusal
        return ChargeRefused(code, detail, retryable=retryable)


@dataclass(frozen=True, slots=True)
class Charging:
    """
    What charges depend on: mappings, templates by name, the devices, and the system with its defects.

    What pods of some templates are charged is found out once.
    """

    mappings: Sequence[DeviceClassMapping]
    templates: Mapping[str, ResourceClaimTemplate]
    seen: SlicesSeen
    system: QueueSystem
    _known: dict[tuple[str, ...], DeviceCharge] = field(default_factory=dict, repr=False, compare=False)

    def of_pod(self, templates: Iterable[str], pod_set: str = "main") -> DeviceCharge:
        """
        Return what a pod is charged for claims made from these templates; one that it names twice counts twice.

        Spec: KUEUE-11 to KUEUE-18.
        """
        key = pod_set, *templates
        if key not in self._known:
            self._known[key] = self._of_pod(key[1:], pod_set)
        return self._known[key]

    def _of_pod(self, templates: Iterable[str], pod_set: str) -> DeviceCharge:
        found: dict[str, Quantity] = {}
        try:
            for name in templates:
                template = self.templates.get(name)
                if template is None:
                    said = f"failed to get claim spec for ResourceClaimTemplate {name} in podset {pod_set}: "
                    raise ChargeRefused("template-missing", f'{said}template "{name}" not found', retryable=True)
                for resource, amount in self._of_claim(name, template.spec.spec):
                    found[resource] = total(found.get(resource), amount)
        except ChargeRefused as refused:
            return DeviceCharge(refusal=(refused.code, refused.detail, refused.retryable))
        return DeviceCharge(found)

    def _of_claim(self, name: str, claim: ResourceClaimSpec) -> Iterator[tuple[str, Quantity]]:
        who = f"ResourceClaimTemplate {name}: "
        asked: list[_Asked] = []
        for number, request in enumerate(claim.devices.requests):
            if request.exactly is None:
                said = f"{who}request {request.name}: firstAvailable is not supported"
                raise ChargeRefused("first-available", said)
            if request.exactly.admin_access:
                continue
            if request.exactly.allocation_mode == "All":
                raise ChargeRefused("all-devices", f"{who}AllocationMode 'All' is not supported")
            mappings = self._mapped(request.exactly.device_class_name)
            asked.append(_Asked(number, request.exactly, who, mappings))
        self._match([each for each in asked if each.request.selectors])
        for each in asked:
            for mapping in each.mappings:
                if not mapping.sources:
                    yield mapping.name, Quantity.of(each.count)
                for source in mapping.sources:
                    yield mapping.name, self._by_source(each, source)

    def _mapped(self, name: str) -> tuple[DeviceClassMapping, ...]:
        found = tuple(each for each in self.mappings if name in each.classes)
        if not found:
            raise ChargeRefused("class-unmapped", f"DeviceClass {name} is in no deviceClassMapping")
        return found

    def _match(self, asked: Sequence[_Asked]) -> None:
        """See that requests with selectors find devices, each its own. Raises: ChargeRefused."""
        drivers: set[str] | None = set()
        for mapping in (each for one in asked for each in one.mappings):
            named = {source.driver for source in mapping.sources}
            drivers = drivers | named if named and drivers is not None else None
        devices = self.seen.devices if asked else ()
        looked_at = [each for each in devices if drivers is None or each.driver in drivers]
        wanted = [(each.count, self._passing(each, looked_at)) for each in asked]
        lacking = matched(wanted, greedy=self.system.shows(QueueDefect.GREEDY_MATCH))
        if lacking is not None:
            raise asked[lacking.number].too_few(lacking.found)

    def _passing(self, asked: _Asked, devices: Iterable[Seen]) -> Iterator[Seen]:
        """Yield the devices that pass class and request, as far as somebody asks. Raises: ChargeRefused."""
        name = asked.request.device_class_name
        if name not in self.seen.classes:
            said = f'deviceclasses.resource.k8s.io "{name}" not found'
            raise ChargeRefused("class-missing", f"{asked.who}failed to get DeviceClass {name}: {said}", retryable=True)
        return self._both(asked, self.seen.classes[name], devices)

    def _both(self, asked: _Asked, device_class: DeviceClass, devices: Iterable[Seen]) -> Iterator[Seen]:
        try:
            of_class = self.seen.passing(devices, _expressions(device_class.spec.selectors))
            yield from self.seen.passing(of_class, _expressions(asked.request.selectors))
        except SelectorFailed as error:
            raise asked.failed(error) from None

    def _by_source(self, asked: _Asked, source: Source) -> Quantity:
        """Return what a request costs by a counter or a capacity: the most that any device does, for each device."""
        selectors = [source.selector] if source.selector else []
        try:
            of_source = list(self.seen.passing(self.seen.current(source.driver), selectors))
        except SelectorFailed as error:
            raise asked.failed(error) from None
        devices = list(self._passing(asked, of_source))
        if len(devices) < asked.count:
            raise asked.too_few(len(devices))
        if source.kind == "counter":
            amounts = [each for device in devices for each in counter_drawn(device.wire, source.name)]
            if not amounts:
                said = f'matched devices have no consumesCounters entry for counter "{source.name}"'
                raise ChargeRefused("counter-missing", said, retryable=True)
        else:
            amounts = [each for device in devices for each in capacity_drawn(device, source.name, asked.request)]
            if not amounts:
                said = "capacity request cannot be satisfied by any matched device's RequestPolicy for dimension "
                raise ChargeRefused("capacity-policy", f'{said}"{source.name}"')
        return total(None, max(amounts), asked.count)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request that costs something: its number in the claim, and the mappings of its class."""

    number: int
    request: ExactDeviceRequest
    who: str
    mappings: tuple[DeviceClassMapping, ...]

    @property
    def count(self) -> int:
        return self.request.count or 1

    def too_few(self, found: int) -> ChargeRefused:
        matching = f"{found} device(s) match in the cluster but {self.count} requested"
        name = self.request.device_class_name
        said = f"insufficient matching devices for CEL selector in DeviceClass {name}: {matching}"
        return ChargeRefused("too-few-devices", f"{self.who}{said}", retryable=True)

    def failed(self, error: SelectorFailed) -> ChargeRefused:
        path = f"devices.requests[{self.number}].exactly.selectors[{error.number}].cel.expression"
        what = "evaluation" if error.compiles else "compilation"
        said = f'{path}: Invalid value: "{error.expression}": CEL {what} failed: {error.text}'
        return ChargeRefused("selector", f"{self.who}{said}")


def _expressions(selectors: Iterable[DeviceSelector]) -> list[str]:
    return [each.cel.expression for each in selectors if each.cel is not None]
