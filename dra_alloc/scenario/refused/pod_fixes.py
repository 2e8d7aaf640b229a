"""
What would let a pod onto nodes that have something against the pod itself: each change tried, as all fixes are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from dra_alloc.api import Node, Pod, ResourceClaim
from dra_alloc.cluster.attempts.queue import Queued
from dra_alloc.cluster.attempts.scheduled import Scheduled, Unschedulable
from dra_alloc.cluster.attempts.scheduling import Scheduling
from dra_alloc.cluster.outcomes import NodeRefusal
from dra_alloc.explain.fix import Fix, after_alone
from dra_alloc.explain.reasons import Reasons, reasons
from dra_alloc.explain.tally import explain
from dra_alloc.explain.world import World
from dra_alloc.pods.extended_resources import asks_for_extended
from dra_alloc.pods.groups import group_name
from dra_alloc.pods.quota.creation import Unmade
from dra_alloc.pods.quota.remedies import lifts
from dra_alloc.pods.remedies import Remedy, remedies
from dra_alloc.problem.pools import GatherError
from dra_alloc.problem.requests import EXTENDED_CLAIM, claim_name
from dra_alloc.scenario.refused.explaining import world_of

#: Attempts of one pod; nodes have much in common.
_MOST_ATTEMPTS: Final = 40
#: Nodes on which it is looked what could be changed about devices besides, at so much work each, and others that
#: could end the question with an error then.
_MOST_WORLDS: Final = 2
_WORK: Final = 10_000
_MOST_ELSEWHERE: Final = 12
#: The cluster up to which a pod is tried again: each attempt looks at all nodes.
_MOST_NODES: Final = 200


class _Came(NamedTuple):
    """What came of an attempt: the nodes that fit, the codes of those that do not, and the claims asked of them."""

    fits: frozenset[str]
    codes: dict[str, str]
    claims: Callable[[str], Sequence[ResourceClaim]] = lambda _: ()


def with_fixes(
    scheduling: Scheduling, queued: Queued, refusals: Sequence[NodeRefusal], amounts: bool
) -> tuple[NodeRefusal, ...]:
    """
    Return a pod's refusals, those that have something against the pod itself with what would let it in.

    A change is listed where the pod would find that node with it, or two
    where no single one does; where none does on any node, devices have a say
    in the second as well. Without `amounts` no smaller request is
    proposed: others may have a say in it. Of pods of groups all would have to
    be asked again.

    Spec: EXPLAIN-21.
    """
    if queued.alone or group_name(queued.pod) or len(scheduling.cluster.nodes) > _MOST_NODES:
        return tuple(refusals)
    trying = _Trying(scheduling, queued, amounts)
    told = [trying.told(each) for each in refusals]
    distances = [each.reasons.distance for each in told if each.reasons is not None]
    if any(each is not None and each[0] == 1 for each in distances) or asks_for_extended(queued.pod):
        return tuple(told)
    return tuple(trying.with_devices(told))


def lifted(
    scheduling: Scheduling,
    queued: Queued,
    unmade: Sequence[Unmade],
    refusals: Sequence[NodeRefusal],
) -> tuple[NodeRefusal, ...]:
    """
    Return the refusals of what a quota does not let be made, with what would let it be made and find the node.

    Spec: EXPLAIN-23.
    """
    if group_name(queued.pod) or len(scheduling.cluster.nodes) > _MOST_NODES:
        return tuple(refusals)
    fixes: dict[str, dict[str, Fix]] = {each.node: {} for each in refusals}
    trying = _Trying(scheduling, queued, amounts=False)
    tried = 0
    several = len(queued.claims) + asks_for_extended(queued.pod) > 1
    for lift in lifts(unmade, scheduling.cluster.claims.values(), several=several):
        # Of smaller numbers for one request the largest is told.
        if tried >= _MOST_ATTEMPTS or all(lift.about in each for each in fixes.values()):
            continue
        tried += 1
        given = [lift.claims.get(each if isinstance(each, str) else claim_name(each), each) for each in queued.claims]
        asked = replace(queued, barred=None, claims=tuple(given), template=None)
        for node in trying.attempt(asked, lift.gone).fits & fixes.keys():
            fixes[node].setdefault(lift.about, Fix((lift.step,), lift.cost, _as_it_is, whose=lift.whose))
    found = {node: Reasons((), tuple(sorted(each.values(), key=lambda fix: fix.order))) for node, each in fixes.items()}
    return tuple([replace(each, reasons=found[each.node]) if fixes[each.node] else each for each in refusals])


def within_quotas(
    scheduling: Scheduling, pod: Pod, outcome: Unschedulable, refusals: Sequence[NodeRefusal]
) -> tuple[NodeRefusal, ...]:
    """
    Return refusals without fixes after which a quota refuses the claim that the scheduler makes for the pod.

    Spec: EXPLAIN-25.
    """
    if not asks_for_extended(pod) or (pod.metadata.namespace or "") not in scheduling.book.accounts:
        return tuple(refusals)
    return tuple([_within_quotas(scheduling, pod, outcome, each) for each in refusals])


def _within_quotas(scheduling: Scheduling, pod: Pod, outcome: Unschedulable, refusal: NodeRefusal) -> NodeRefusal:
    reasons = refusal.reasons
    if reasons is None or not reasons.fixes:
        return refusal
    world = world_of(scheduling.cluster, outcome.claims_on(refusal.node), scheduling.cluster.node(refusal.node))
    barred: dict[str, str] = {}
    given = scheduling.book.relieved(_by_maker(world.claims)[0], ())
    for fix in reasons.fixes:
        own, made = _by_maker(fix.change(world).claims)
        # What the change leaves out of the pod's own claims is room for the other.
        book, _ = given.charge_all(own)
        for claim in made:
            refused = book.charge(claim, made_for=pod)[1]
            if refused is not None:
                barred[str(fix)] = f"a quota is against the claim that the scheduler makes then: {refused.text}"
    if not barred:
        return refusal
    fixes = tuple([each for each in reasons.fixes if str(each) not in barred])
    hints = (*reasons.hints, *dict.fromkeys(barred.values()))
    not_enough = (*reasons.not_enough, *barred)
    return replace(refusal, reasons=replace(reasons, fixes=fixes, not_enough=not_enough, hints=hints))


def _by_maker(claims: Iterable[ResourceClaim]) -> tuple[list[ResourceClaim], list[ResourceClaim]]:
    """Return a pod's own claims, and those that the scheduler makes for it; none that is without requests now."""
    found: tuple[list[ResourceClaim], list[ResourceClaim]] = ([], [])
    for each in (claim for claim in claims if claim.spec.devices.requests):
        found[each.metadata.annotations.get(EXTENDED_CLAIM) == "true"].append(each)
    return found


@dataclass(slots=True)
class _Trying:
    """Attempts of one pod beside the scheduling, which stays as it is."""

    scheduling: Scheduling
    queued: Queued
    amounts: bool
    _known: dict[tuple[str | None, ...], _Came] = field(default_factory=dict)
    _beside: Scheduling | None = None
    # The changes after which devices are in the way on a node.
    _short: dict[str, tuple[Remedy, _Came]] = field(default_factory=dict)

    def told(self, refusal: NodeRefusal) -> NodeRefusal:
        """Return the refusal with what would let the pod in, if anything that was tried would."""
        fixes: list[Fix] = []
        further: list[tuple[Remedy, str]] = []
        for remedy in self._remedies(refusal.node, refusal.code):
            came = self._came((remedy,))
            if came is not None and refusal.node in came.fits:
                fixes.append(_fix(remedy))
            elif came is not None:
                further.append((remedy, came.codes.get(refusal.node, "")))
                if further[-1][1] == "no-fit":
                    self._short.setdefault(refusal.node, (remedy, came))
        if not fixes:
            fixes += self._pair(refusal.node, further)
        if fixes:
            return replace(refusal, reasons=Reasons((), tuple(fixes)))
        # Some of what is tried may leave the same in the way.
        left = {code for _, code in further if code != refusal.code}
        behind = " (nor do its claims fit)" if left == {"no-fit"} else ""
        return replace(refusal, detail=f"{refusal.detail}{behind}") if refusal.detail and behind else refusal

    def with_devices(self, refusals: Sequence[NodeRefusal]) -> Iterator[NodeRefusal]:
        """Yield the refusals, the first few that only devices would be in the way of with a change about these, too."""
        near = [each.node for each in refusals if each.reasons is None and each.node in self._short][:_MOST_WORLDS]
        for each in refusals:
            fixes = self._about_devices(each.node) if each.node in near else ()
            yield replace(each, reasons=Reasons((), fixes)) if fixes else each

    def _about_devices(self, name: str) -> tuple[Fix, ...]:
        """Return what lets the pod in together with a change about devices, the cheapest first."""
        cluster, (remedy, came) = self.scheduling.cluster, self._short[name]
        others = [node for node, code in came.codes.items() if code == "no-fit" and node != name][:_MOST_ELSEWHERE]
        try:
            world, *elsewhere = (world_of(cluster, came.claims(each), cluster.node(each)) for each in (name, *others))
        except GatherError:
            return ()
        found = reasons(world, _WORK, refused=True, elsewhere=elsewhere)
        left = explain(world.allocator(), world.node, world.claims).cause
        first = Fix((remedy.step,), remedy.cost, _as_it_is, whose=remedy.whose)
        leaves = after_alone(remedy.step, left) if left else ""
        return tuple([first.and_then(fix, leaves) for fix in found.fixes if len(fix.steps) == 1])

    def _pair(self, node: str, further: Sequence[tuple[Remedy, str]]) -> Iterator[Fix]:
        """Yield the first two changes that are enough together, the second of what the first leaves in the way."""
        for first, code in further:
            for second in self._remedies(node, code, first):
                came = self._came((first, second))
                if came is not None and node in came.fits:
                    yield _fix(first, second)
                    return

    def _remedies(self, name: str, code: str, after: Remedy | None = None) -> Iterator[Remedy]:
        """Yield what could be changed about what a node has against the pod, after another change if there is one."""
        tenancy = self.scheduling.tenancy
        place = tenancy.places[name]
        pod, node = (self.queued.pod, None) if after is None else (after.pod, after.node)
        served = self.scheduling.cluster.known.class_by_resource
        if code != "node-resources" or self.amounts:
            yield from remedies(pod, node or tenancy.nodes[place], code, tenancy.loads[place], served)

    def _came(self, changes: tuple[Remedy, ...]) -> _Came | None:
        """Return what comes of the pod with the changes made; None where that is one attempt too many."""
        node = next((each.node for each in reversed(changes) if each.node is not None), None)
        # A node is changed alone, though others may have the same against the pod.
        tried = (None if node is None else node.metadata.name, *[each.step for each in changes])
        if tried not in self._known:
            if len(self._known) >= _MOST_ATTEMPTS:
                return None
            self._known[tried] = self.attempt(replace(self.queued, pod=changes[-1].pod, template=None), node=node)
        return self._known[tried]

    def attempt(self, queued: Queued, gone: str = "", node: Node | None = None) -> _Came:
        """
        Return what comes of an attempt beside the scheduling.

        A claim of the cluster may be `gone`, and a `node` be another than it is.
        """
        if self._beside is None:
            self._beside = copy(self.scheduling)
            self._beside.go_back(self.scheduling.saved())
        tenancy = self._beside.tenancy
        if node is not None:
            self._beside.tenancy = tenancy.with_node(node, tenancy.places[node.metadata.name or ""])
        if gone:
            saved = self._beside.saved()
            self._beside.go_back(saved._replace(cluster=saved.cluster.without_claims([gone])))
        before = self._beside.cluster
        outcome = self._beside.attempt(queued)
        self._beside.tenancy = tenancy
        if gone or isinstance(outcome, Scheduled) or self._beside.cluster is not before:
            # What it took or gave back must not show in the next attempt.
            self._beside = None
        if isinstance(outcome, Scheduled):
            return _Came(frozenset(outcome.fits), {})
        if not isinstance(outcome, Unschedulable):
            return _Came(frozenset(), {})
        return _Came(frozenset(), {each.node: each.code for each in outcome.refusals}, outcome.claims_on)


def _fix(*changes: Remedy) -> Fix:
    steps, cost = tuple([each.step for each in changes]), sum(each.cost for each in changes)
    parties = tuple([each.whose for each in changes])
    return Fix(steps, cost, _as_it_is, whose=max(parties), parties=parties)


def _as_it_is(world: World) -> World:
    """Nothing changes about devices."""
    return world
