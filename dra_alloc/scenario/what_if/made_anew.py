"""
Pods that lost their place on the way from one state to another, and which of them are to be asked for again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dra_alloc.api import Pod, PodStatus
from dra_alloc.cluster.edits.cluster_state import ClusterState, family_of
from dra_alloc.cluster.edits.objects import DELETED
from dra_alloc.cluster.edits.step import drained
from dra_alloc.scenario.what_if.asking import makes_anew
from dra_alloc.scenario.what_if.pod_counts import WorkloadName, key_of


@dataclass(frozen=True, slots=True)
class MadeAnew:
    """
    Pods that lost their place, by workload and with why; `pods` are those to ask for whose makers cannot be.

    `unguarded` says that some were drained, and that no budget could have held them.
    """

    evicted: Mapping[WorkloadName, Mapping[str, str]]
    pods: tuple[Pod, ...]
    unguarded: bool = False

    @classmethod
    def of(cls, before: ClusterState, after: ClusterState) -> MadeAnew:
        """Return what was evicted on the way from one state to the other."""
        budgets = after.dump.disruption_budgets or after.manifests.disruption_budgets
        if not after.evicted:
            return cls({}, ())
        family = family_of(before)
        there = {each.key for each in (*after.dump.workloads, *after.manifests.workloads)}
        evicted: dict[WorkloadName, dict[str, str]] = {}
        anew = []
        for name, (pod, why) in after.evicted.items():
            root = family.root(pod)
            evicted.setdefault(key_of(pod, family), {})[name] = why
            if root is None:
                is_lacking = bool(pod.metadata.owner_references) and why != DELETED
            else:
                is_lacking = root.key in there and not makes_anew(root)
            if is_lacking:
                anew.append(_waiting(pod))
        is_drained = any(why == drained(pod.spec.node_name) for pod, why in after.evicted.values())
        return cls(evicted, tuple(anew), is_drained and not budgets)

    def notes(self) -> Iterator[str]:
        """Yield what is taken for granted."""
        if self.evicted:
            budgets = "; the cluster has no PodDisruptionBudgets that could hold them" if self.unguarded else ""
            yield f"pods are taken to end at once{budgets}"
        if self.pods:
            yield f"pods whose makers cannot be expanded are taken as made anew, as they were: {len(self.pods)}"


def _waiting(pod: Pod) -> Pod:
    """Return a pod as it is made anew: without node, status, and identity."""
    meta = pod.metadata.replaced(uid=None, deletion_timestamp=None)
    return pod.replaced(metadata=meta, spec=pod.spec.replaced(node_name=None), status=PodStatus())
