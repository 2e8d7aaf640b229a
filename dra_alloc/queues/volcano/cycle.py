"""
Volcano's turn: which gangs its queues have room for at least, and which of their pods find places.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from dra_alloc.api import Quantity, ResourceClaim
from dra_alloc.pods.gangs.trees import GroupTree, has_enough, pods_missing
from dra_alloc.queues.standing import TRIED, GangStanding, KeptOut, Standing, kept_out
from dra_alloc.queues.systems import QueueDefect, QueueSystem
from dra_alloc.queues.volcano.enqueue import DeviceMinimum, device_minimum, enqueue_refusal
from dra_alloc.queues.volcano.objects import CONSUMABLE, DRA, ROOT, VolcanoObjects, VolcanoQueue

_NO_ROOM: Final = "exceeds-capability"
_NO_DEVICES: Final = "exceeds-device-capability"
_IN_NO_DEVICE: Final = "capacity-in-no-device"
_FOR_ROOM: Final = (_NO_ROOM, _NO_DEVICES)
#: Amounts of resources in billionths.
Nanos = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class VolcanoJob:
    """
    A gang of Volcano: pods by number with what each asks for and its claims; some may be `placed` already.

    `minimum` is what a PodGroup says that there has to be room for; None is what the pods that it needs ask for.
    """

    name: str
    queue: str
    group: GroupTree
    asked: Mapping[int, Nanos]
    claims: Mapping[int, Sequence[ResourceClaim]]
    placed: frozenset[int] = frozenset()
    priority: int = 0
    number: int = 0
    against: KeptOut = TRIED
    minimum: Nanos | None = None

    @property
    def first(self) -> Sequence[int]:
        """The pods that stand for what it needs: of each task as many as that does, or else the first ones."""
        tasks = [each for each in self.group.groups if each.least]
        if tasks and self.group.least_groups:
            return [pod for each in tasks for pod in each.pods[: each.least]]
        return list(self.group.members())[: self.group.least]


#: Finds places for the pods of a gang that are allowed, tells which took one, and returns those that keep it; None
#: where that is not known.
VolcanoPlace = Callable[[VolcanoJob, Callable[[int], bool], Callable[[int], None]], frozenset[int] | None]


@dataclass(frozen=True, slots=True)
class VolcanoStanding(GangStanding[VolcanoJob]):
    """
    What becomes of a gang: who is let in has a number in `order`, and may yet find no places.

    `minimum` are the devices that there has to be room for.
    """

    minimum: Mapping[str, DeviceMinimum] = field(default_factory=dict)


@dataclass(slots=True)
class _Held:
    """What a queue has given away: plain amounts, and devices and their capacity by class."""

    amounts: dict[str, int] = field(default_factory=dict)
    devices: dict[str, DeviceMinimum] = field(default_factory=dict)

    def add(self, amounts: Nanos, devices: Mapping[str, DeviceMinimum], sign: int = 1) -> None:
        """Add amounts, or with a sign of -1 take them away."""
        for name, amount in amounts.items():
            self.amounts[name] = self.amounts.get(name, 0) + sign * amount
        for name, each in devices.items():
            own = self.devices.setdefault(name, DeviceMinimum())
            own.count += sign * each.count
            for dimension, more in each.capacity.items():
                had = own.capacity.get(dimension, Quantity.of(0))
                own.capacity[dimension] = had + more if sign > 0 else had - more


class VolcanoCycle:
    """
    One cycle under way: first gangs are let in for their minimum, then their pods are placed.

    Spec: VOLCANO-13 to VOLCANO-15.
    """

    def __init__(self, objects: VolcanoObjects, jobs: Sequence[VolcanoJob], whole: Nanos, system: QueueSystem) -> None:
        self.objects = objects
        self._jobs = sorted(jobs, key=lambda each: (-each.priority, each.number))
        self._system = system
        self._held: dict[str, _Held] = {name: _Held() for name in objects.queues}
        self._most = dict(self._real(whole))
        for job in jobs:
            for pod in job.placed:
                self._take(job.queue, job.asked[pod], self._devices(job, [pod]))

    def _real(self, whole: Nanos) -> Iterator[tuple[str, Mapping[str, int]]]:
        """Yield how much a queue can have: its capability, and what is kept for none beside it. Spec: VOLCANO-13."""
        level: list[tuple[str, Mapping[str, int]]] = [("", whole)]
        while level:
            below: list[tuple[str, Mapping[str, int]]] = []
            for parent, total in level:
                queues = [each for each in self.objects.queues.values() if each.parent == parent]
                kept = _sum([each.guarantee for each in queues])
                below += [(each.name, _most(each, total, kept)) for each in queues]
            yield from below
            level = below

    def _devices(self, job: VolcanoJob, pods: Sequence[int]) -> Mapping[str, DeviceMinimum]:
        claims = [job.claims[each] for each in pods]
        return device_minimum(claims, len(claims), self._system) if self._system.on(DRA) else {}

    def _take(self, queue: str, amounts: Nanos, devices: Mapping[str, DeviceMinimum], sign: int = 1) -> None:
        for each in self.objects.line(queue):
            self._held[each.name].add(amounts, devices, sign)

    def _least(self, job: VolcanoJob) -> tuple[Nanos, Mapping[str, DeviceMinimum]]:
        """Return what there has to be room for before a gang is let in."""
        pods = [each for each in job.first if each not in job.placed]
        amounts = job.minimum if job.minimum is not None else _sum_nanos([job.asked[each] for each in pods])
        return amounts, self._devices(job, pods)

    def run(self, place: VolcanoPlace) -> list[VolcanoStanding]:
        """Return what becomes of each gang."""
        found = [self._enqueued(job, order) for order, job in enumerate(self._jobs, 1)]
        found = [self._placed(each, place) for each in found]
        while not self._system.shows(QueueDefect.FLAT_CAPACITY) and (given := self._given_back(found)):
            # Who waited for room behind them may have it now.
            found = [given.get(order, each) for order, each in enumerate(found, 1)]
            found = [
                self._placed(self._enqueued(each.job, order), place) if each.code in _FOR_ROOM else each
                for order, each in enumerate(found, 1)
            ]
        return found

    def _given_back(self, found: Sequence[VolcanoStanding]) -> Mapping[int, VolcanoStanding]:
        """Return those that were let in for capacity that no devices have, and wait: room is not kept for them."""
        told: dict[int, VolcanoStanding] = {}
        for order, each in enumerate(found, 1):
            asks = any(one.capacity for one in each.minimum.values())
            if asks and each.standing is Standing.ADMITTED and not each.has_enough:
                self._take(each.job.queue, *self._least(each.job), sign=-1)
                said = f"queue {each.job.queue} has room for the sum of its capacity, and no devices have it at once"
                told[order] = replace(each, standing=Standing.WAITING, code=_IN_NO_DEVICE, reasons=(said,), order=0)
        return told

    def _enqueued(self, job: VolcanoJob, order: int) -> VolcanoStanding:
        """Return whether queues have room for what a gang needs at least, and keep it for it."""
        against = self._against(job)
        if against[0]:
            return VolcanoStanding(job, kept_out(against[0]), against[0], (against[1],), placed=job.placed)
        if not has_enough(job.group, job.asked):
            said = pods_missing(job.group, job.asked)
            return VolcanoStanding(job, Standing.WAITING, "pods-missing", (said,), placed=job.placed)
        if job.placed and has_enough(job.group, job.placed):
            return VolcanoStanding(job, Standing.ADMITTED, order=order, placed=job.placed)
        amounts, devices = self._least(job)
        refusal = self._refusal(job.queue, amounts, devices)
        if refusal is not None:
            standing, code, said = refusal
            return VolcanoStanding(job, standing, code, (said,), placed=job.placed, minimum=devices)
        self._take(job.queue, amounts, devices)
        return VolcanoStanding(job, Standing.ADMITTED, order=order, placed=job.placed, minimum=devices)

    def _against(self, job: VolcanoJob) -> KeptOut:
        if job.against[0]:
            return job.against
        queue = self.objects.queues.get(job.queue)
        if queue is None:
            return "no-queue", f"there is no queue {job.queue}"
        if queue.closed:
            return "queue-closed", f"queue {job.queue} is not open"
        if job.queue == ROOT or any(each.parent == job.queue for each in self.objects.queues.values()):
            return "queue-not-leaf", f"queue {job.queue} is above others, and jobs are in those at the end"
        return TRIED

    def _refusal(
        self, queue: str, amounts: Nanos, devices: Mapping[str, DeviceMinimum]
    ) -> tuple[Standing, str, str] | None:
        """Return why a queue or one above it has no room. Spec: VOLCANO-14."""
        for each in self.objects.line(queue):
            held, most = self._held[each.name], self._most[each.name]
            for name, amount in amounts.items():
                if amount > 0 and name in most and held.amounts.get(name, 0) + amount > most[name]:
                    standing = Standing.NEVER if amount > most[name] else Standing.WAITING
                    said, had, of = (_text(one) for one in (amount, held.amounts.get(name, 0), most[name]))
                    told = f"queue {each.name}: {said} of {name} asked, {had} used of {of}"
                    return standing, _NO_ROOM, told
            consumable = self._system.on(CONSUMABLE)
            said = enqueue_refusal(each.capability, devices, held.devices, self._system, consumable)
            if said and self._system.on(DRA):
                alone = enqueue_refusal(each.capability, devices, {}, self._system, consumable)
                standing = Standing.NEVER if alone else Standing.WAITING
                return standing, _NO_DEVICES, f"queue {each.name}: {said}"
        return None

    def _placed(self, found: VolcanoStanding, place: VolcanoPlace) -> VolcanoStanding:
        """Return what becomes of a gang if it was let in: its minimum is its own, and no other queue's room."""
        if found.standing is not Standing.ADMITTED:
            return found
        job = found.job
        kept, held_back = frozenset(job.first), list[str]()

        def allowed(pod: int) -> bool:
            refusal = None if pod in kept else self._refusal(job.queue, job.asked[pod], self._devices(job, [pod]))
            if refusal is not None:
                held_back.append(refusal[2])
            return refusal is None

        def took(pod: int) -> None:
            if pod not in kept:
                self._take(job.queue, job.asked[pod], self._devices(job, [pod]))

        placed = place(job, allowed, took)
        if placed is None:
            return replace(found, standing=Standing.UNDECIDED)
        found = replace(found, placed=job.placed | placed)
        return replace(found, reasons=tuple(held_back[:1])) if found.has_enough else found


def _most(queue: VolcanoQueue, total: Mapping[str, int], kept: Mapping[str, int]) -> Mapping[str, int]:
    """Return how much of plain resources a queue can have."""
    found: dict[str, int] = {}
    for name in total.keys() | {key for key in queue.capability if "deviceclass/" not in key}:
        own = queue.guarantee.get(name)
        limit = queue.capability.get(name)
        amounts = [] if limit is None else [limit.nano]
        if name in total:
            amounts.append(max(0, total[name] - kept.get(name, 0)) + (0 if own is None else own.nano))
        found[name] = min(amounts)
    return found


def _sum(amounts: Iterable[Mapping[str, Quantity]]) -> Mapping[str, int]:
    return _sum_nanos([{name: amount.nano for name, amount in each.items()} for each in amounts])


def _sum_nanos(amounts: Iterable[Nanos]) -> Mapping[str, int]:
    found: dict[str, int] = {}
    for each in amounts:
        for name, amount in each.items():
            found[name] = found.get(name, 0) + amount
    return found


def _text(nano: int) -> str:
    return str(Quantity.of(nano, exponent=-9))
