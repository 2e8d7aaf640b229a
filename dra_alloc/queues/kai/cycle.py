"""
KAI's allocation: whose turn it is, whether queues have room for it, and what becomes of each job.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Final

from dra_alloc.pods.gangs.trees import GroupTree, has_enough, next_pods, pods_missing
from dra_alloc.queues.kai.amounts import amount_text, total
from dra_alloc.queues.kai.fair_share import UNLIMITED, Claimant, fair_shares
from dra_alloc.queues.kai.objects import RESOURCES, KaiObjects, KaiQueue
from dra_alloc.queues.kai.reclaim import Amounts, Holder, KaiHolding
from dra_alloc.queues.ledger import QueueLedger
from dra_alloc.queues.standing import TRIED, GangStanding, KeptOut, Standing, kept_out

#: The priority from which on nobody evicts a job.
FIRM: Final = 100
#: Finds places for pods of a job, all or none of them; None where that is not known.
_Place = Callable[["KaiJob", Sequence[int]], bool | None]


@dataclass(frozen=True, slots=True)
class KaiJob:
    """
    What KAI places together: a tree of pods by number, with what each of them counts; some may be `placed` already.

    `number` says who was first, and is its own, where a name may be that of others, too; `against` is why it is not
    tried at all, by code and in words; `after` is the place in the list of the job that has to have enough before.
    """

    name: str
    queue: str
    group: GroupTree
    asked: Mapping[int, Amounts]
    placed: frozenset[int] = frozenset()
    priority: int = 50
    preemptible: bool = True
    number: int = 0
    against: KeptOut = TRIED
    after: int | None = None


@dataclass(frozen=True, slots=True)
class KaiStanding(GangStanding[KaiJob]):
    """What becomes of a job; `order` counts who gets places."""


@dataclass(slots=True)
class _Waiting:
    """A job in turn, the pods that it has by now, and how many of the least that it needs these are."""

    job: KaiJob
    placed: set[int]

    @property
    def rank(self) -> tuple[int, int, int]:
        """What puts jobs of a queue in order: priority, who lacks most, then who was first. Spec: KAI-16."""
        counts = [(sum(pod in self.placed for pod in leaf.pods), leaf.least) for leaf in self.job.group.leaves()]
        lacks = any(have < least for have, least in counts)
        beyond = any(have > least for have, least in counts)
        return -self.job.priority, 0 if lacks else 1 + beyond, self.job.number


class KaiCycle:
    """
    One cycle under way: queues with what their jobs have, and their shares of all that there is.

    Spec: KAI-14 to KAI-17. Raises: InputError for queues that are no forest.
    """

    def __init__(self, objects: KaiObjects, jobs: Sequence[KaiJob], whole: Amounts, k: float = 1) -> None:
        self.objects = objects
        self.whole = whole
        self.ledger: QueueLedger[float] = QueueLedger(each.account for each in objects.queues.values())
        self.firm: QueueLedger[float] = QueueLedger(each.account for each in objects.queues.values())
        self._parents = objects.parents
        self._jobs = jobs
        for job in jobs:
            if job.queue in objects.queues:
                self._charge(job, job.placed)
        self.shares = self._shares(k)
        self._heaps: dict[str, list[tuple[tuple[int, int, int], int, _Waiting]]] = {}
        self._below = self._children()
        self._keys: dict[str, tuple[object, ...]] = {}
        self._leaves: dict[str, str | None] = {}
        self._most: dict[str, list[float]] = {}
        self._order = 0

    def _children(self) -> Mapping[str, list[str]]:
        below: dict[str, list[str]] = {}
        for each in self.objects.queues.values():
            below.setdefault(each.account.parent, []).append(each.name)
        return below

    def _charge(self, job: KaiJob, pods: Iterable[int]) -> None:
        for name, amount in total(job.asked[each] for each in pods).items():
            if amount:
                self.ledger.charge(job.queue, (name,), amount)
                if not job.preemptible:
                    self.firm.charge(job.queue, (name,), amount)

    def _shares(self, k: float) -> Mapping[str, Mapping[str, float]]:
        """Return what each queue may have of each resource, by resource. Spec: KAI-14."""
        wanted: QueueLedger[float] = QueueLedger(each.account for each in self.objects.queues.values())
        for job in self._jobs:
            if job.queue in self.objects.queues:
                for name, amount in total(job.asked.values()).items():
                    wanted.charge(job.queue, (name,), amount)
        moments = {each.created: 0 for each in self.objects.queues.values()}
        created = {moment: place for place, moment in enumerate(sorted(moments, key=lambda one: one or "~"))}
        return {
            resource: fair_shares(
                self.whole[resource],
                [
                    Claimant(
                        each.name,
                        each.grant(resource).quota,
                        _limit(each, resource),
                        each.weights[resource],
                        wanted.used(each.name, (resource,)),
                        priority=each.priority,
                        created=created[each.created],
                        parent=each.account.parent,
                    )
                    for each in self.objects.queues.values()
                ],
                k,
            )
            for resource in RESOURCES
        }

    def holder(self, name: str) -> Holder:
        """Return a queue with what it holds as it is now."""
        queue = self.objects.queues[name]
        holdings = {
            resource: KaiHolding(
                queue.grant(resource).quota,
                _limit(queue, resource),
                self.shares[resource][name],
                self.ledger.used(name, (resource,)),
                self.firm.used(name, (resource,)),
            )
            for resource in RESOURCES
        }
        return Holder(name, holdings, queue.account.parent)

    def run(self, place: _Place) -> tuple[KaiStanding, ...]:
        """Return what becomes of each job, in the order given."""
        found: dict[int, KaiStanding] = {}
        later: dict[int, list[int]] = {}
        for number, job in enumerate(self._jobs):
            against = self._against(job)
            if against[0]:
                found[number] = KaiStanding(job, kept_out(against[0]), against[0], (against[1],), placed=job.placed)
            elif not has_enough(job.group, job.asked):
                said = pods_missing(job.group, job.asked)
                found[number] = KaiStanding(job, Standing.WAITING, "pods-missing", (said,), placed=job.placed)
            elif job.after is not None and not has_enough(self._jobs[job.after].group, self._jobs[job.after].placed):
                later.setdefault(job.after, []).append(number)
            else:
                self._wait(number)
        while (leaf := self._next("")) is not None:
            _, number, waiting = heapq.heappop(self._heaps[leaf])
            self._turn(waiting, number, place, found)
            self._forget(leaf)
            if number in found and found[number].has_enough:
                for each in later.pop(number, ()):
                    self._wait(each)
                    self._forget(self._jobs[each].queue)
        for before, behind in later.items():
            said = f"its pods are gated until {self._jobs[before].name} is scheduled"
            for each in behind:
                job = self._jobs[each]
                found[each] = KaiStanding(job, Standing.WAITING, "base-gang", (said,), placed=job.placed)
        return tuple([found[number] for number in range(len(self._jobs))])

    def _wait(self, number: int) -> None:
        """Let a job wait for its turn."""
        job = self._jobs[number]
        waiting = _Waiting(job, set(job.placed))
        heapq.heappush(self._heaps.setdefault(job.queue, []), (waiting.rank, number, waiting))

    def _against(self, job: KaiJob) -> KeptOut:
        """Return why a job is not tried at all. Spec: KAI-15."""
        if job.against[0]:
            return job.against
        if not job.queue:
            return "no-queue", "it names no queue"
        if job.queue not in self.objects.queues:
            return "no-queue", f"there is no queue {job.queue}"
        if job.queue in self._parents:
            return "queue-not-leaf", f"queue {job.queue} has queues below it, and jobs are in those at the end"
        return TRIED

    def _turn(self, waiting: _Waiting, number: int, place: _Place, found: dict[int, KaiStanding]) -> None:
        """Try the next pods of a job, and let it wait its turn for more of them."""
        job, before = waiting.job, found.get(number)
        pods = next_pods(job.group, waiting.placed)
        if not pods:
            found.setdefault(number, KaiStanding(job, Standing.ADMITTED, placed=frozenset(waiting.placed)))
            return
        refused = self._over(job, pods)
        if refused is not None:
            standing, code, reason = refused
            if before is None or not before.has_enough:
                found[number] = KaiStanding(job, standing, code, (reason,), placed=frozenset(waiting.placed))
            else:
                found[number] = _beyond(before, reason)
            return
        fits = place(job, pods)
        if not fits:
            if before is None or (fits is None and not before.has_enough):
                standing = Standing.UNDECIDED if fits is None else Standing.ADMITTED
                found[number] = KaiStanding(job, standing, placed=frozenset(waiting.placed))
            return
        self._charge(job, pods)
        waiting.placed.update(pods)
        self._order += before is None
        order = self._order if before is None else before.order
        found[number] = KaiStanding(job, Standing.ADMITTED, order=order, placed=frozenset(waiting.placed))
        heapq.heappush(self._heaps[job.queue], (waiting.rank, number, waiting))

    def _over(self, job: KaiJob, pods: Sequence[int]) -> tuple[Standing, str, str] | None:
        """Return why queues have no room for pods of a job. Spec: KAI-15."""
        asked = total(job.asked[each] for each in pods)
        for name, amount in asked.items():
            for account in self.ledger.line(job.queue) if amount > 0 else ():
                grant, used = account.grants[name,], self.ledger.used(account.name, (name,))
                limit = inf if grant.most is None or grant.most == UNLIMITED else grant.most
                if used + amount > limit:
                    return self._refused("over-limit", "limit", account.name, name, (amount, used, limit))
                firm, due = self.firm.used(account.name, (name,)), inf if grant.quota == UNLIMITED else grant.quota
                if not job.preemptible and firm + amount > due:
                    what = "quota, beyond which a job that is not preemptible may not go"
                    return self._refused("non-preemptible-over-quota", what, account.name, name, (amount, firm, due))
        return None

    @staticmethod
    def _refused(
        code: str, what: str, queue: str, resource: str, amounts: tuple[float, float, float]
    ) -> tuple[Standing, str, str]:
        standing = Standing.NEVER if amounts[0] > amounts[2] else Standing.WAITING
        said, had, of = (amount_text(resource, each) for each in amounts)
        return standing, code, f"queue {queue}: {said} asked, {had} used of a {what}: {of}"

    def _forget(self, leaf: str) -> None:
        """Forget what was known of a queue and of those above it."""
        self._leaves.pop("", None)
        for account in self.ledger.line(leaf):
            self._keys.pop(account.name, None)
            self._leaves.pop(account.name, None)

    def _next(self, parent: str) -> str | None:
        """Return the leaf whose job is next, below a queue."""
        if parent not in self._leaves:
            best = ""
            for name in self._below.get(parent, ()):
                if self._key(name) and (not best or self._before(name, best)):
                    best = name
            self._leaves[parent] = self._next(best) if best and best in self._parents else best or None
        return self._leaves[parent]

    def _head(self, name: str) -> tuple[KaiJob, Sequence[int]] | None:
        """Return the job that would be next in a queue or below it, and its next pods."""
        leaf = name if name not in self._parents else self._next(name)
        heap = self._heaps.get(leaf or "")
        if not heap:
            return None
        waiting = heap[0][2]
        return waiting.job, next_pods(waiting.job.group, waiting.placed)

    def _before(self, one: str, other: str) -> bool:
        """Return whether a queue is before another in turn. Spec: KAI-16."""
        first, second = self._keys[one], self._keys[other]
        if first != second:
            return first < second
        mine, theirs = self._allocatable(one), self._allocatable(other)
        if mine != theirs and all(own <= others for own, others in zip(mine, theirs, strict=True)):
            return True
        if mine != theirs and all(own >= others for own, others in zip(mine, theirs, strict=True)):
            return False
        made = [self.objects.queues[name].created or "~" for name in (one, other)]
        return made[0] < made[1]

    def _allocatable(self, name: str) -> list[float]:
        """Return how much of each resource a queue can have at most, whatever its jobs have by now."""
        known = self._most.get(name)
        if known is None:
            known = self._most[name] = [each.allocatable for each in self.holder(name).holdings.values()]
        return known

    def _key(self, name: str) -> tuple[object, ...]:
        """Return what puts a queue in turn, as far as it can be compared; nothing if none of its jobs waits."""
        known = self._keys.get(name)
        if known is not None:
            return known
        head = self._head(name)
        if head is None:
            self._keys[name] = ()
            return ()
        job, pods = head
        holdings = self.holder(name).holdings
        asked = total(job.asked[each] for each in pods)
        after = {resource: each.allocated + asked[resource] for resource, each in holdings.items()}
        over = any(each.fair_share != UNLIMITED and each.allocated > each.fair_share for each in holdings.values())
        within = all(after[resource] <= each.due for resource, each in holdings.items())
        barred = any(not each.allocatable and after[resource] > 0 for resource, each in holdings.items())
        with_job = max(_share(each, after[resource], self.whole[resource]) for resource, each in holdings.items())
        without = max(_share(each, each.allocated, self.whole[resource]) for resource, each in holdings.items())
        key = (over, not within, -self.objects.queues[name].priority, barred, with_job, without)
        self._keys[name] = key
        return key


def _limit(queue: KaiQueue, resource: str) -> float:
    most = queue.grant(resource).most
    return UNLIMITED if most is None else most


def _share(holding: KaiHolding, amount: float, whole: float) -> float:
    """Return what part of what a queue can have an amount is; where that is nothing it weighs a thousandfold."""
    most = whole if holding.allocatable == inf else holding.allocatable
    return amount / most if most else 1000 * amount


def _beyond(before: KaiStanding, reason: str) -> KaiStanding:
    """Return a job that has what it needs, and gets no more for a reason."""
    return KaiStanding(before.job, before.standing, before.code, (reason,), before.order, before.placed)
