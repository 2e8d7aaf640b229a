"""
How many pods of each workload run, would, and would not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from dra_alloc.api import Pod
from dra_alloc.manifest import Documents, Workload
from dra_alloc.pods.workloads.owners import Family
from dra_alloc.pods.workloads.states import PodState, state_of
from dra_alloc.scenario.answers import SubjectAnswer
from dra_alloc.scenario.check import Check


class WorkloadName(NamedTuple):
    """What is told of: a workload, a pod of nobody, or a claim that no pod uses."""

    kind: str
    name: str


@dataclass(slots=True)
class PodCount:
    """
    The pods of one workload: those that run, by node, and what becomes of the others.

    `old` are those of an older template that a rollout leaves, which stops before them.
    """

    runs: dict[str, str] = field(default_factory=dict)
    asked: list[SubjectAnswer] = field(default_factory=list)
    old: list[str] = field(default_factory=list)

    @property
    def wanted(self) -> int:
        """How many pods there are to be."""
        return len(self.runs) + len(self.asked)

    @property
    def running(self) -> int:
        """How many of them run or would."""
        return len(self.runs) + len(self.placed)

    @property
    def placed(self) -> list[SubjectAnswer]:
        """Pods that find a node."""
        return [each for each in self.asked if each.verdict == "allocated"]

    @property
    def refused(self) -> list[SubjectAnswer]:
        """Pods that do not."""
        return [each for each in self.asked if each.verdict == "unsatisfiable"]

    @property
    def undecided(self) -> list[SubjectAnswer]:
        """Pods of which it is not known."""
        return [each for each in self.asked if each.verdict == "undecided"]


def counted(dump: Documents, family: Family, check: Check, but: Iterable[Pod] = ()) -> dict[WorkloadName, PodCount]:
    """
    Return the counts of workloads, those that run first, then those that were asked in their order.

    All pods are counted `but` some.
    """
    found: dict[WorkloadName, PodCount] = {}
    owners = {each.name: each for each in check.pods}
    known = {id(each) for each in but}
    for pod in dump.pods:
        if id(pod) in known or state_of(pod) is not PodState.BOUND:
            continue
        name = pod.metadata.full_name
        made = owners.get(name)
        if made is None or made.state is PodState.BOUND:
            key = key_of(pod if made is None else made.owner, family)
            found.setdefault(key, PodCount()).runs[name] = pod.spec.node_name or ""
    there = check.scheduling.there if check.scheduling is not None else {}
    for made in check.pods:
        if made.state is PodState.LEAVING and made.name in there:
            found.setdefault(key_of(made.owner, family), PodCount()).old.append(made.name)
    for answer in check.placements:
        asked = owners.get(answer.name)
        key = WorkloadName(answer.kind, answer.name) if asked is None else key_of(asked.owner, family)
        found.setdefault(key, PodCount()).asked.append(answer)
    return found


def key_of(owner: Pod | Workload, family: Family) -> WorkloadName:
    """Return who is told of for a pod, or for the workload that makes it."""
    top = family.root(owner) or owner
    return WorkloadName(top.kind, top.metadata.full_name)
