"""
Pods of groups in the scheduler's queue: they wait for each other, and are tried together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from dra_alloc.api import PodGroup
from dra_alloc.cluster.attempts.group_tries import GroupDomains, GroupTried, GroupTrying
from dra_alloc.cluster.attempts.queue import Queued, not_asked, priority_of, scheduler_of, waiting
from dra_alloc.cluster.attempts.scheduled import PodOutcome, Unschedulable, Waiting
from dra_alloc.cluster.attempts.scheduling import Scheduling
from dra_alloc.pods.gangs.topology import Domain
from dra_alloc.pods.gangs.trees import GroupTree, core_group
from dra_alloc.pods.groups import attempt_group, group_name, is_grouping, least_of

#: What stands as code where a group, and no node, refuses a pod.
GROUP_CODE: Final = "pod-group"
_NEW: Final = (1, 37)
_TO_APPEAR: Final = "waiting for minCount pods from a gang to appear in scheduling queue"
_TO_BE_SCHEDULED: Final = (
    "pod group is unschedulable, waiting for minCount pods from a gang to be scheduled, "
    "one or more plugins asked to wait and no plugin rejected pod"
)


@dataclass(frozen=True, slots=True)
class Grouped:
    """
    The pods of a group that are tried together, by number; the group is none where there is no such PodGroup.

    It is `blocked_by` a pod that may not be tried itself and was there before the group could be.
    """

    name: str
    group: PodGroup | None
    numbers: tuple[int, ...]
    blocked_by: str = ""


@dataclass(slots=True)
class Groups:
    """The groups of one run, how many pods of each have a node, and the places of these."""

    scheduling: Scheduling
    pods: Sequence[Queued]
    running: Counter[str] = field(default_factory=Counter)
    places: dict[str, set[int]] = field(default_factory=dict)
    _known: Mapping[str, PodGroup] = field(default_factory=dict)
    _on: bool = False
    _new: bool = True
    _packs: bool = False

    def __post_init__(self) -> None:
        cluster = self.scheduling.cluster
        settings = cluster.settings
        self._on = any(each.pod.spec.scheduling_group for each in self.pods) and is_grouping(
            settings.release, settings.effective_gates()
        )
        if self._on:
            self._known = cluster.population.groups
            self._new = settings.profile().release.line >= _NEW
            self._packs = settings.effective_gates().get("TopologyAwareWorkloadScheduling", False)
            self.running.update(map(group_name, cluster.population.pods))
            known = self.scheduling.tenancy.places
            for each in cluster.population.pods:
                if group_name(each) and each.spec.node_name in known:
                    self.places.setdefault(group_name(each), set()).add(known[each.spec.node_name])

    def entries(self, numbers: Iterable[int]) -> Iterator[int | Grouped]:
        """
        Yield pods of no group, and each group where as many of its pods are there as it needs, or else at the end.

        Spec: PODGROUP-4.
        """
        if not self._on:
            yield from numbers
            return
        members: dict[str, list[int]] = {}
        numbers = list(numbers)
        for number in numbers:
            if self._is_member(number):
                members.setdefault(group_name(self.pods[number].pod), []).append(number)
        claims = self.scheduling.cluster.claims
        seen: Counter[str] = Counter()
        left = Counter({name: len(those) for name, those in members.items()})
        done: set[str] = set()
        blocked: dict[str, str] = {}
        for number in numbers:
            if not self._is_member(number):
                yield number
                continue
            name = group_name(self.pods[number].pod)
            left[name] -= 1
            waits = self._new and waiting(self.pods[number], claims) is not None
            seen[name] += not waits
            if waits:
                blocked.setdefault(name, self.pods[number].name)
            group = self._known.get(name)
            enough = group is not None and seen[name] + self.running[name] >= least_of(group)
            if name not in done and (enough or not left[name]):
                done.add(name)
                yield Grouped(name, group, tuple(members[name]), blocked.get(name, ""))

    def _is_member(self, number: int) -> bool:
        queued = self.pods[number]
        return bool(group_name(queued.pod)) and not_asked(queued) is None

    def outcomes(self, grouped: Grouped) -> Iterator[tuple[int, PodOutcome]]:
        """
        Yield what becomes of the pods of a group, of each once: those without a place first, as the nodes were then.

        Spec: PODGROUP-1, PODGROUP-2, PODGROUP-5 to PODGROUP-7.
        """
        pods, claims = self.pods, self.scheduling.cluster.claims
        waits = {number: found for number in grouped.numbers if (found := waiting(pods[number], claims)) is not None}
        yield from waits.items()
        ready = [number for number in grouped.numbers if number not in waits]
        text = self._not_tried(grouped, ready)
        if text:
            yield from ((number, Waiting(pods[number].name, GROUP_CODE, text)) for number in ready)
            return
        text = self._invalid(grouped, ready)
        if text:
            yield from ((number, Unschedulable(pods[number].name, text, GROUP_CODE)) for number in ready)
            return
        yield from self._attempt(grouped, ready)

    def _not_tried(self, grouped: Grouped, ready: Sequence[int]) -> str:
        """Return what lets the group wait; controllers that make pods one by one have made the first only."""
        if grouped.group is None:
            name = grouped.name.rpartition("/")[2]
            return f'waiting for pods\'s pod group "{name}" to appear in scheduling queue'
        if self._new and grouped.blocked_by:
            return f"waiting for all pods of its group: {grouped.blocked_by} may not be scheduled yet"
        there = ready if self._new else grouped.numbers
        one_by_one = [self.pods[number].follows for number in there if self.pods[number].follows]
        made = len(there) - (len(one_by_one) - len(set(one_by_one)))
        return _TO_APPEAR if self.running[grouped.name] + made < least_of(grouped.group) else ""

    def _invalid(self, grouped: Grouped, ready: Sequence[int]) -> str:
        """Return the scheduler's words on pods of a group that are not of one kind. Spec: PODGROUP-7."""
        pods = [self.pods[number].pod for number in ready]
        if not pods:
            return ""
        alike = "all pods in a single pod group should have the same"
        first = scheduler_of(pods[0])
        other = next((scheduler_of(each) for each in pods if scheduler_of(each) != first), first)
        if other != first:
            return f'{alike} .spec.schedulerName set, got: "{other}" and "{first}"'
        if not self._new:
            return ""
        assert grouped.group is not None
        wanted = grouped.group.spec.priority or 0
        priority = next((value for each in pods if (value := priority_of(each)) != wanted), wanted)
        if priority != wanted:
            return f"{alike} priority as the pod group's priority, got {priority} and {wanted}"
        policies = [each.spec.preemption_policy or "PreemptLowerPriority" for each in pods]
        policy = next((each for each in policies if each != policies[0]), policies[0])
        return "" if policy == policies[0] else f"{alike} preemption policy, got {policy} and {policies[0]}"

    def _attempt(self, grouped: Grouped, ready: Sequence[int]) -> Iterator[tuple[int, PodOutcome]]:
        """Yield what becomes of pods that are tried, in each domain of the group's topology if it has one."""
        assert grouped.group is not None
        tree = core_group(grouped.group, ready)
        places = self._placements(tree)
        if places.against:
            yield from ((each, Unschedulable(self.pods[each].name, places.against, GROUP_CODE)) for each in ready)
            return
        before, best = self.scheduling.saved(), None
        tries: list[GroupTried] = []
        for domain in places.domains:
            if tries:
                self.scheduling.go_back(before.again())
            tries.append(self._tried(tree, ready, domain))
            if tries[-1].trying.error:
                break
            if tries[-1].succeeded and (best is None or len(tries[-1].placed) > len(best[0].placed)):
                best = tries[-1], self.scheduling.saved() if len(places.domains) > 1 else None
        if best is not None and not tries[-1].trying.error:
            if best[1] is not None:
                self.scheduling.go_back(best[1])
            self.running[grouped.name] += len(best[0].placed)
            self.places.setdefault(grouped.name, set()).update(
                self.scheduling.tenancy.places[each.node] for _, each in best[0].found.placed
            )
            yield from best[0].outcomes(places.chosen(best[0], tries))
            return
        self.scheduling.go_back(before)
        yield from self._refused(grouped, places, tries)

    def _placements(self, tree: GroupTree) -> GroupDomains:
        """Return the domains in which the pods of a group are tried."""
        if not self._packs or not tree.topology:
            return GroupDomains(tree)
        nodes = self.scheduling.tenancy.nodes
        return GroupDomains.of(tree, [each.metadata.labels for each in nodes], self.places.get(tree.name, set()))

    def _tried(self, tree: GroupTree, ready: Sequence[int], domain: Domain | None) -> GroupTried:
        trying = GroupTrying(self.scheduling, self.pods)
        with self.scheduling.among(None if domain is None else domain.places):
            found = attempt_group(
                ready, trying.place, least=tree.least, running=self.running[tree.name], stops_early=self._new
            )
        return GroupTried(domain, found, trying)

    def _refused(
        self, grouped: Grouped, places: GroupDomains, tries: Sequence[GroupTried]
    ) -> Iterator[tuple[int, PodOutcome]]:
        """
        Yield what becomes of pods of which no domain took enough, by that with the most room or an error.

        The status that is quoted is that of the domain tried first.
        """
        tried = tries[-1] if tries[-1].trying.error else max(tries, key=lambda each: len(each.placed))
        found, trying, first = tried.found, tried.trying, tries[0]
        placed = tuple(number for number, _ in found.placed)
        scheduled = self.running[grouped.name] + len(first.placed)
        left = f"{scheduled} scheduled, {len(first.found.untried)} remaining"
        short = f"minCount ({places.tree.least}) cannot be satisfied: {left}"
        status = places.status(f"pod group is unschedulable, {short}")
        unsettled = next((each.trying for each in tries if each.trying.is_unsettled), trying)
        outcomes = {number: trying.outcomes[number] for number in found.failed if number in trying.outcomes}
        helped = any(getattr(each, "helped", False) for each in trying.outcomes.values())
        for number in (*placed, *found.failed, *found.untried):
            text = status if number in placed or places.key else short
            text = trying.error or (text if self._new else _TO_BE_SCHEDULED)
            refused = Unschedulable(self.pods[number].name, text, GROUP_CODE, helped=helped)
            outcomes.setdefault(number, unsettled.unsettled(self.pods[number]) or refused)
        notes = places.rooms(tries)
        for number, outcome in outcomes.items():
            yield number, replace(outcome, notes=(*outcome.notes, *notes)) if notes else outcome
            notes = ()
