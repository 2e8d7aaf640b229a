"""
Who is admitted: cycles of Kueue's scheduler until nobody more is.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from dra_alloc.api.labels import selector_of
from dra_alloc.errors import first_few
from dra_alloc.queues.kueue.asking import ChargedSet, QueuedWorkload, charged
from dra_alloc.queues.kueue.charge import ChargeRefused, Charging
from dra_alloc.queues.kueue.flavors import Assignment, assigned
from dra_alloc.queues.kueue.objects import DRAINS, ClusterQueue, KueueObjects
from dra_alloc.queues.kueue.rooms import (
    NodeRoom,
    TopologyRooms,
    malformed,
    not_asked_here,
    rooms_assigned,
    without_topology,
)
from dra_alloc.queues.kueue.topology import DomainCounts
from dra_alloc.queues.kueue.tree import QuotaFit, QuotaTree
from dra_alloc.queues.kueue.unnamed import is_nameless
from dra_alloc.queues.ledger import Key
from dra_alloc.queues.standing import NOT_MODELLED, TRIED, KeptOut, Standing, kept_out
from dra_alloc.work import BudgetExhausted

_TOPOLOGIES: Final = "TopologyAwareScheduling"


@dataclass(frozen=True, slots=True)
class QueueStanding:
    """
    What becomes of a workload in its queue, with the reasons; of an admitted one what it is charged, by flavor.

    `order` counts those that are admitted; `domains` are those of topologies that its pods are put into, by pod set;
    `doubt` is why it is not known whether it is let in, if its quota suffices.
    """

    workload: QueuedWorkload
    standing: Standing
    queue: str = ""
    code: str = ""
    reasons: tuple[str, ...] = ()
    sets: tuple[ChargedSet, ...] = ()
    assignment: Assignment = field(default_factory=Assignment)
    order: int = 0
    may_preempt: bool = False
    domains: Mapping[str, DomainCounts] = field(default_factory=dict)
    doubt: str = ""

    @property
    def asks(self) -> bool:
        """Whether it waits for quota, as nothing does of which Kueue makes no Workload yet."""
        return self.standing is Standing.WAITING and (not self.workload.unmade[0] or bool(self.doubt))


@dataclass(frozen=True, slots=True)
class AroundQueues:
    """
    What queues are asked among: labels of namespaces, what workloads have been given, by queue, and the nodes.

    The second counts where the status of a queue does not say it. `assigned` says by flavor whose pods, not all of
    them there, have been assigned domains of its topology.
    """

    labels: Mapping[str, Mapping[str, str]]
    given: Mapping[str, Mapping[Key, int]]
    nodes: Sequence[NodeRoom] = ()
    assigned: Mapping[str, str] = field(default_factory=dict)


def admissions(
    workloads: Iterable[QueuedWorkload], objects: KueueObjects, charging: Charging, around: AroundQueues
) -> tuple[QueueStanding, ...]:
    """
    Return what becomes of each workload, in the order given.

    Nobody is preempted: who needs that waits.

    Spec: KUEUE-26 to KUEUE-29. Raises: InputError for cohorts in a circle.
    """
    if not charging.system.on(_TOPOLOGIES):
        objects, workloads = _without_topologies(objects, workloads)
    tree = QuotaTree((*objects.cohorts.values(), *(each.account for each in objects.queues.values())))
    for queue in objects.queues.values():
        for key, amount in (around.given.get(queue.name, {}) if queue.usage is None else queue.usage).items():
            tree.ledger.charge(queue.name, key, amount)
    found: dict[int, QueueStanding] = {}
    waiting: dict[str, list[QueueStanding]] = {}
    for each in workloads:
        first = _nominated(each, objects, charging, around)
        found[each.number] = first
        if first.asks:
            waiting.setdefault(first.queue, []).append(first)
    for admission in _cycles(waiting, objects, tree, TopologyRooms(objects, around.nodes, around.assigned)):
        found[admission.workload.number] = admission
    if objects.shares_fairly:
        found |= {each.workload.number: each for each in _left_to_shares(tuple(found.values()), tree)}
    return tuple(found.values())


def _left_to_shares(found: Sequence[QueueStanding], tree: QuotaTree) -> Iterator[QueueStanding]:
    """
    Yield as undecided who borrows, and who comes later or waits, of a cohort in which several queues ask and some wait.

    Who borrows nothing goes first in any case. Spec: KUEUE-49.
    """
    cohorts: dict[str, list[QueueStanding]] = {}
    for each in found:
        if each.order or each.asks:
            *_, top = tree.ledger.line(each.queue)
            cohorts.setdefault(top.name, []).append(each)
    said = "fair sharing decides who of its cohort goes first, which is not modelled"
    for those in cohorts.values():
        first = min((each.order for each in those if each.order and each.assignment.level), default=0)
        waits = any(not each.order for each in those)
        if first and waits and len({each.queue for each in those}) > 1:
            for each in those:
                if not each.order or each.order >= first:
                    undecided = replace(each, standing=Standing.UNDECIDED, order=0, code=NOT_MODELLED)
                    yield replace(undecided, reasons=(said,))


def _without_topologies(
    objects: KueueObjects, workloads: Iterable[QueuedWorkload]
) -> tuple[KueueObjects, list[QueuedWorkload]]:
    """Return flavors and workloads as they are where nobody looks at topologies."""
    flavors = {name: replace(each, topology="") for name, each in objects.flavors.items()}
    plain = [
        replace(each, sets=tuple([replace(one, pod=without_topology(one.pod)) for one in each.sets]))
        for each in workloads
    ]
    return replace(objects, flavors=flavors), plain


def _nominated(
    workload: QueuedWorkload, objects: KueueObjects, charging: Charging, around: AroundQueues
) -> QueueStanding:
    """Return a workload that waits in its queue, is in already, or can be in no queue."""
    local = objects.local.get(workload.local_queue)
    queue = objects.queues.get(local.cluster_queue) if local is not None else None
    name = local.cluster_queue if local is not None else ""
    if workload.given is not None and not any(each is not None and each.held == DRAINS for each in (local, queue)):
        return _admitted_before(workload, workload.given, (name, queue), objects, around.assigned)
    code, why = workload.unmade
    if code not in ("", NOT_MODELLED):
        return QueueStanding(workload, kept_out(code), name, code, (why,))
    if is_nameless(workload.local_queue):
        said = "it names no queue, and by manageJobsWithoutQueueName Kueue holds back what names none"
        return _out(workload, name, "no-queue", said)
    if local is None:
        return _out(workload, name, "no-local-queue", f"there is no LocalQueue {workload.local_queue}")
    if queue is None:
        said = f"there is no ClusterQueue {name}, to which LocalQueue {workload.local_queue} leads"
        return _out(workload, name, "no-cluster-queue", said)
    held = local.held or queue.held
    if held:
        whose = f"LocalQueue {workload.local_queue}" if local.held else f"ClusterQueue {name}"
        return _out(workload, name, "queue-stopped", f"{whose} is stopped: {held}")
    code, why = _inactive(queue, objects)
    if code:
        return _out(workload, name, code, f"ClusterQueue {name} is inactive, as {why}")
    namespace = workload.local_queue.partition("/")[0]
    if not selector_of(queue.namespaces).matches(around.labels[namespace]):
        said = f"ClusterQueue {name} takes no workloads of namespace {namespace}"
        return _out(workload, name, "namespace-selector", said)
    refused = next((found for each in workload.sets if (found := malformed(each.pod, each.count))), "")
    if refused:
        return _out(workload, name, "topology-malformed", f"Kueue refuses it: {refused}")
    try:
        sets = charged(workload, charging, objects)
        return QueueStanding(workload, Standing.WAITING, name, sets=sets, doubt=_doubt(workload))
    except BudgetExhausted as spent:
        return QueueStanding(workload, Standing.UNDECIDED, name, "budget", (str(spent),))
    except ChargeRefused as against:
        again = ", Kueue tries again" if against.retryable else ""
        return QueueStanding(workload, kept_out(against.code), name, against.code, (f"{against.detail}{again}",))


def _doubt(workload: QueuedWorkload) -> str:
    """Return why it is not known whether a workload is let in whose quota suffices. Spec: KUEUE-48."""
    if workload.unmade[0]:
        return workload.unmade[1]
    beyond = next((found for each in workload.sets if (found := not_asked_here(each.pod))), "")
    return f"annotation {beyond} is not modelled: whether and where its pods go is not known" if beyond else ""


def _admitted_before(
    workload: QueuedWorkload,
    given: Mapping[str, Mapping[str, str]],
    queue_of: tuple[str, ClusterQueue | None],
    objects: KueueObjects,
    assigned: Mapping[str, str],
) -> QueueStanding:
    """Return a workload that has its quota; undecided where it is not known to which nodes its pods are kept."""
    queue = queue_of[0]
    flavors = {of_set: dict(each) for of_set, each in given.items()}
    named = list(dict.fromkeys(each for of_set in flavors.values() for each in of_set.values()))
    lacking = [each for each in named if each not in objects.flavors]
    said = f"it is admitted, and there is no ResourceFlavor {first_few(lacking)} that says to which nodes"
    elsewhere = _elsewhere(queue_of[1], objects)
    if elsewhere:
        said = elsewhere
    elif not lacking:
        taken = [each for each in named if objects.flavors[each].topology and each in assigned]
        if not taken:
            return QueueStanding(workload, Standing.ADMITTED, queue, assignment=Assignment(flavors=flavors))
        said = rooms_assigned(taken[0], assigned)
    return QueueStanding(workload, Standing.UNDECIDED, queue, NOT_MODELLED, (said,))


def _inactive(queue: ClusterQueue, objects: KueueObjects) -> KeptOut:
    """Return why a queue takes nobody, by code and in words, if it does not. Spec: KUEUE-26, KUEUE-43."""
    if queue.idle:
        return "queue-inactive", queue.idle
    flavors = list(dict.fromkeys(each for group in queue.groups for each in group.flavors))
    lacking = [each for each in flavors if each not in objects.flavors]
    if lacking:
        return "flavor-missing", f"there is no ResourceFlavor {first_few(lacking)}"
    named = dict.fromkeys(each for name in flavors if (each := objects.flavors[name].topology))
    lost = [each for each in named if each not in objects.topologies]
    if lost:
        return "topology-missing", f"there is no Topology {first_few(lost)}"
    checks = list(dict.fromkeys(queue.checks))
    unchecked = [each for each in checks if each not in objects.checks]
    if unchecked:
        return "check-missing", f"there is no AdmissionCheck {first_few(unchecked)}"
    idle = [each for each in checks if objects.checks[each].active is False]
    return ("check-inactive", f"AdmissionCheck {first_few(idle)} is not active") if idle else TRIED


def _elsewhere(queue: ClusterQueue | None, objects: KueueObjects) -> str:
    """Return why pods that a queue admits are not to be placed here. Spec: KUEUE-46."""
    named = queue.checks if queue is not None else ()
    checks = [each for each in named if each in objects.checks and objects.checks[each].elsewhere]
    said = "has its pods run in other clusters, which is not modelled"
    return f"AdmissionCheck {first_few(checks)} {said}" if checks else ""


def _out(workload: QueuedWorkload, queue: str, code: str, reason: str) -> QueueStanding:
    return QueueStanding(workload, Standing.INADMISSIBLE, queue, code, (reason,))


_NO_ROOM: Final = {
    QuotaFit.NO_FIT: (Standing.NEVER, "exceeds-quota"),
    QuotaFit.OVER_AVAILABLE: (Standing.WAITING, "waits-for-quota"),
}
_MAY_PREEMPT: Final = "it may be admitted with fewer pods, or preempt others for all: which of these is not modelled"
_MAY_BE_FEWER: Final = "it may be admitted with fewer pods, for which there may be a domain: that is not modelled"
_ANYWHERE: Final[tuple[Mapping[str, DomainCounts], str, bool]] = ({}, "", True)
_UNSUITED: Final = (Standing.INADMISSIBLE, "flavors-unsuitable")


def _cycles(
    waiting: Mapping[str, list[QueueStanding]], objects: KueueObjects, tree: QuotaTree, rooms: TopologyRooms
) -> Iterator[QueueStanding]:
    """Yield what becomes of all that wait: the first of each queue in a cycle, until none is left."""
    left = {
        name: sorted(each, key=lambda one: (-one.workload.priority, one.workload.number), reverse=True)
        for name, each in waiting.items()
    }
    order = 0
    while heads := [each[-1] for each in left.values() if each]:
        tried = [_tried(head, objects.queues[head.queue], tree, objects) for head in heads]
        for head, found in sorted(tried, key=_turn):
            queue, behind = objects.queues[head.queue], left[head.queue]
            if found.fit is not QuotaFit.FIT:
                yield from _parked(head, found, queue, behind)
            elif all(tree.fit(queue.name, key, amount) is QuotaFit.FIT for key, amount in found.usage.items()):
                domains, against, ever = rooms.look(head.sets, found.flavors, queue) if not head.doubt else _ANYWHERE
                if against and not _may_be_fewer(head):
                    found.fit = QuotaFit.OVER_AVAILABLE if ever else QuotaFit.NO_FIT
                    found.reasons.append(against)
                    yield from _parked(head, found, queue, behind, "no-domain")
                    continue
                for key, amount in found.usage.items():
                    tree.ledger.charge(queue.name, key, amount)
                unknown = head.doubt or _elsewhere(queue, objects) or rooms.unknown(found.flavors, domains)
                unknown = unknown or (_MAY_BE_FEWER if against else "")
                if unknown:
                    rooms.leave_open(head.workload.name, found.flavors)
                    yield from _unknown(head, found, queue, behind, unknown)
                    continue
                order += 1
                behind.pop()
                yield replace(head, standing=Standing.ADMITTED, assignment=found, order=order, domains=domains)


def _tried(
    head: QueueStanding, queue: ClusterQueue, tree: QuotaTree, objects: KueueObjects
) -> tuple[QueueStanding, Assignment]:
    """
    Return how a head fits: with as many of its pods as do, if it may be admitted with fewer.

    Of a queue that may preempt it is in doubt whether it does that first. Spec: KUEUE-51.
    """
    found = assigned(head.sets, queue, tree, objects)
    if found.fit is QuotaFit.FIT or not _may_be_fewer(head):
        return head, found
    (whole,) = head.sets
    fewer = range(whole.asked.count - 1, head.workload.least - 1, -1)
    place = bisect_left(fewer, True, key=lambda count: _fits(whole.of(count), queue, tree, objects))
    if place == len(fewer):
        return head, found
    part = (whole.of(fewer[place]),)
    taken = replace(head, doubt=head.doubt or _MAY_PREEMPT) if queue.preempts else replace(head, sets=part)
    return taken, assigned(part, queue, tree, objects)


def _may_be_fewer(head: QueueStanding) -> bool:
    return len(head.sets) == 1 and 0 < head.workload.least < head.sets[0].asked.count


def _fits(part: ChargedSet, queue: ClusterQueue, tree: QuotaTree, objects: KueueObjects) -> bool:
    return assigned((part,), queue, tree, objects).fit is QuotaFit.FIT


def _turn(tried: tuple[QueueStanding, Assignment]) -> tuple[int, int, int]:
    head, found = tried
    return found.level, -head.workload.priority, head.workload.number


def _unknown(
    head: QueueStanding, found: Assignment, queue: ClusterQueue, left: list[QueueStanding], said: str
) -> Iterator[QueueStanding]:
    """Yield a head of which it is not known whether it is let in; of a strict queue with all behind it."""
    undecided, behind = Standing.UNDECIDED, f"behind {head.workload.name}, of which it is not known: {said}"
    left.pop()
    yield replace(head, standing=undecided, code=NOT_MODELLED, reasons=(said,), assignment=found)
    while queue.strict and left:
        yield replace(left.pop(), standing=undecided, code=NOT_MODELLED, reasons=(behind,))


def _parked(
    head: QueueStanding, found: Assignment, queue: ClusterQueue, left: list[QueueStanding], why: str = ""
) -> Iterator[QueueStanding]:
    """Yield a head that nothing lets in any more; of a strict queue with all behind it."""
    left.pop()
    standing, code = _UNSUITED if found.unsuited else _NO_ROOM[found.fit]
    preempts = queue.preempts and standing is Standing.WAITING
    reasons = tuple(found.reasons)
    yield replace(head, standing=standing, code=why or code, reasons=reasons, assignment=found, may_preempt=preempts)
    while queue.strict and left:
        said = f"behind {head.workload.name}, as the queue is StrictFIFO"
        yield replace(left.pop(), code="waits-behind", reasons=(said,))
