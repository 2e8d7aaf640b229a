"""
What a change does: every workload before and after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from dra_alloc.api import Pod, PodStatus
from dra_alloc.errors import Problem, Where
from dra_alloc.manifest import Documents, Workload
from dra_alloc.pods.workloads.owners import Family
from dra_alloc.pods.workloads.states import PodState, state_of
from dra_alloc.pods.workloads.table import maker_of
from dra_alloc.scenario.check import Check, CheckOptions, check
from dra_alloc.scenario.what_if.cluster_state import ClusterState, joined
from dra_alloc.scenario.what_if.objects import DELETED
from dra_alloc.scenario.what_if.pod_counts import PodCount, WorkloadName, counted, key_of
from dra_alloc.scenario.what_if.reading import Scenario
from dra_alloc.scenario.what_if.step import Stepping

__all__ = ["Fate", "WhatIf", "WorkloadChange", "after_steps", "what_if"]


class Fate(StrEnum):
    """
    What a change does to a workload.

    `LOST`: fewer of its pods run than before. `GONE`: pods of nobody were
    evicted, which nobody makes anew. `REFUSED`: what is new of it does not fit.
    `UNDECIDED`: the budget ran out. `LACKING`: as before, not all of it runs.
    `FITS`: what is new of it does. `GAINED`: more of it runs than before.
    `MOVES`: all of its evicted pods find a place. `DELETED`: somebody deleted it. `STAYS`.
    """

    LOST = "no longer fits"
    GONE = "gone for good"
    REFUSED = "does not fit"
    UNDECIDED = "undecided"
    LACKING = "did not fit before"
    FITS = "fits"
    GAINED = "fits now"
    MOVES = "moves"
    DELETED = "deleted"
    STAYS = "stays"


@dataclass(frozen=True, slots=True)
class WorkloadChange:
    """One workload before and after; `evicted` are its pods that lost their place, with why."""

    subject: WorkloadName
    before: PodCount
    after: PodCount
    evicted: Mapping[str, str] = field(default_factory=dict)

    @property
    def fate(self) -> Fate:
        """What the change does to it."""
        was, now = self.before, self.after
        missing = len(now.refused) - len(was.refused)
        if not now.wanted:
            deleted = not self.evicted or DELETED in self.evicted.values()
            return Fate.DELETED if deleted else Fate.GONE
        if missing > 0:
            return Fate.LOST if now.running < was.running else Fate.REFUSED
        if now.undecided:
            return Fate.UNDECIDED
        if now.refused:
            return Fate.LACKING
        if was.wanted < now.wanted:
            return Fate.FITS
        if missing < 0:
            return Fate.GAINED
        return Fate.MOVES if self.evicted and now.placed else Fate.STAYS


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The changes of all workloads, and the cluster before and after them."""

    changes: tuple[WorkloadChange, ...]
    before: Check
    after: Check
    notes: tuple[str, ...] = ()

    def count(self, fate: Fate) -> int:
        """Return how many workloads have that fate."""
        return sum(each.fate is fate for each in self.changes)


def after_steps(
    state: ClusterState, scenario: Scenario, load: Callable[[str], Documents]
) -> tuple[ClusterState, tuple[Problem, ...]]:
    """Return the state after the steps of a scenario, in order, and everything that they name and that is not there."""
    problems: list[Problem] = []
    for path, step in scenario.steps:
        stepping = Stepping(load)
        state = step.on(state, stepping)
        for below, problem in stepping.wrong:
            place = f"{path}.{below}" if below else path
            problems.append(replace(problem, where=Where(path=place, file=scenario.file)))
    return state, tuple(problems)


def what_if(before: ClusterState, after: ClusterState, options: CheckOptions) -> WhatIf:
    """
    Return what becomes of every workload from one state to the other.

    Both are asked the same: what is applied, the pods that wait, and the
    workloads that the change takes pods from, or gives nodes to.

    Spec: WHATIF-1.
    Raises: as :func:`check` does.
    """
    asking = _Asking(before, after)
    was, old = asking.answers(before, (), options)
    now, new = asking.answers(after, asking.made_anew, options)
    changes = [
        WorkloadChange(each, old.get(each, PodCount()), new.get(each, PodCount()), asking.evicted.get(each, {}))
        for each in dict.fromkeys((*old, *new))
    ]
    return WhatIf(tuple(changes), was, now, (*asking.notes(), *now.notes))


class _Asking:
    """Who is asked anew on both sides of a change."""

    def __init__(self, before: ClusterState, after: ClusterState) -> None:
        family = Family(before.manifests, before.dump, before.dump.nodes, {})
        there = {_key(each) for each in (*after.dump.workloads, *after.manifests.workloads)}
        self.evicted: dict[WorkloadName, dict[str, str]] = {}
        self.made_anew: list[Pod] = []
        self._assumed: list[str] = []
        self._roots: set[tuple[str, str, str]] = set()
        for name, (pod, why) in after.evicted.items():
            root = family.root(pod)
            self.evicted.setdefault(key_of(pod, family), {})[name] = why
            if why == DELETED and (root is None or _key(root) not in there):
                continue
            if root is not None and _key(root) in there and _makes(root):
                self._roots.add(_key(root))
            elif root is not None or pod.metadata.owner_references:
                self.made_anew.append(_waiting(pod))
                self._assumed.append(name)
        if after.grown:
            self._roots |= {_key(each) for each in after.dump.workloads if each.kind == "DaemonSet"}

    def answers(
        self, state: ClusterState, more: Sequence[Pod], options: CheckOptions
    ) -> tuple[Check, dict[WorkloadName, PodCount]]:
        """Return what a check of the state says, and how many of its pods run."""
        applied = {_key(each) for each in state.manifests.workloads}
        there = [each for each in state.dump.workloads if _key(each) in self._roots - applied]
        known = _known(state)
        waiting = [each for each in state.dump.pods if _waits(each) and _needs(each) <= known]
        extra = replace(Documents(), workloads=tuple(there), pods=(*waiting, *more))
        places = {id(each): state.dump.places[id(each)] for each in (*there, *waiting) if id(each) in state.dump.places}
        asked = joined(replace(extra, places=places, texts=state.dump.texts), state.manifests)
        found = check(asked, state.dump, replace(options, settings=state.settings))
        return found, counted(state.dump, asked, found)

    def notes(self) -> Iterator[str]:
        """Yield what is taken for granted."""
        if self.evicted:
            yield "PodDisruptionBudgets, and the time that pods take to end, are not looked at"
        if self._assumed:
            count = len(self._assumed)
            yield f"pods whose makers cannot be expanded are taken as made anew, as they were: {count}"


def _key(workload: Workload) -> tuple[str, str, str]:
    return workload.group, workload.kind, workload.metadata.full_name


def _makes(root: Workload) -> bool:
    """Say whether a workload can be asked for the pods that it lacks: a CronJob makes those of its next time."""
    maker = maker_of(root)
    return maker is not None and maker.plan is not None and root.kind != "CronJob"


def _waits(pod: Pod) -> bool:
    return state_of(pod) in (PodState.WAITING, PodState.GATED)


def _known(state: ClusterState) -> set[tuple[str, str]]:
    """Return the claims and claim templates that there are, by kind and name."""
    found = joined(state.dump, state.manifests)
    claims = {(each.kind, each.metadata.full_name) for each in found.claims}
    return claims | {(each.kind, each.metadata.full_name) for each in found.templates}


def _needs(pod: Pod) -> set[tuple[str, str]]:
    """Return the claims and claim templates without which nobody can ask for a pod's devices."""
    namespace = pod.metadata.namespace or ""
    made = {each.name for each in pod.status.resource_claim_statuses}
    left = [each for each in pod.spec.resource_claims if each.name not in made]
    claims = {("ResourceClaim", f"{namespace}/{each.resource_claim_name}") for each in left if each.resource_claim_name}
    names = {each.resource_claim_template_name for each in left}
    return claims | {("ResourceClaimTemplate", f"{namespace}/{name}") for name in names if name}


def _waiting(pod: Pod) -> Pod:
    """Return a pod as it is made anew: without node, status, and identity."""
    meta = pod.metadata.replaced(uid=None, deletion_timestamp=None)
    return pod.replaced(metadata=meta, spec=pod.spec.replaced(node_name=None), status=PodStatus())
