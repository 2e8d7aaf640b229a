"""
How many pods PodDisruptionBudgets let go, as their controller and the eviction API work it out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from dra_alloc.api import Pod, PodDisruptionBudget
from dra_alloc.api.labels import LabelTest, selector_of
from dra_alloc.manifest import Documents, Workload
from dra_alloc.pods.workloads.owners import Family
from dra_alloc.pods.workloads.reading import value_at
from dra_alloc.pods.workloads.states import is_live

#: Namespace and labels of a pod that is not there yet and would run.
Healthy = tuple[str, Mapping[str, str]]
#: Kinds whose number of pods the controller of budgets knows without asking the API server for a scale.
_SCALED = ("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet")


@dataclass(slots=True)
class _Budget:
    """A budget with what it counts; `wanted` is None where it cannot be worked out how many have to be healthy."""

    name: str
    namespace: str
    test: LabelTest
    healthy: int
    wanted: int | None
    expected: int
    always: bool

    @property
    def allowed(self) -> int:
        """How many more healthy pods may go now."""
        return max(0, self.healthy - self.wanted) if self.wanted is not None and self.expected > 0 else 0

    def refuses(self, *, is_ready: bool) -> str:
        """Return why a pod may not be evicted, in words of the API server; empty if it may, which is counted."""
        if not is_ready and (self.always or (self.wanted is not None and self.healthy >= self.wanted > 0)):
            return ""
        if self.allowed > 0:
            self.healthy -= 1
            return ""
        if self.wanted is None:
            said = "does not allow evicting pods: how many of them there are to be cannot be worked out"
            return f"the disruption budget {self.name} {said}"
        if self.healthy <= self.wanted:
            return (
                f"the disruption budget {self.name} needs {self.wanted} healthy pods and has {self.healthy} currently"
            )
        return f"the disruption budget {self.name} does not allow evicting pods currently"


class Disruptions:
    """The budgets of a cluster as they are with the pods that run, and with others that would by then."""

    def __init__(self, dump: Documents, manifests: Documents, coming: Sequence[Healthy] = ()) -> None:
        given = {each.metadata.full_name: each for each in (*dump.disruption_budgets, *manifests.disruption_budgets)}
        self._family = Family(manifests, dump, dump.nodes, {}) if given else None
        self._budgets = [self._budget(each, dump.pods, coming) for each in given.values()]

    def refuses(self, pod: Pod) -> str:
        """
        Return why the eviction of a pod is refused; empty if it is not, and then it counts for those that follow.

        Spec: EVICT-1, EVICT-2.
        """
        if not is_live(pod) or pod.status.phase == "Pending":
            return ""
        found = [each for each in self._budgets if _selects(each, pod.metadata.namespace or "", pod.metadata.labels)]
        if len(found) > 1:
            return "it has more than one PodDisruptionBudget, which evictions do not support"
        return found[0].refuses(is_ready=_is_ready(pod)) if found else ""

    def lets(self, pod: Pod) -> bool:
        """Return whether the eviction of a pod would be allowed now, which is not counted."""
        kept = self._budgets
        self._budgets = [replace(each) for each in kept]
        try:
            return not self.refuses(pod)
        finally:
            self._budgets = kept

    def _budget(self, given: PodDisruptionBudget, pods: Iterable[Pod], coming: Sequence[Healthy]) -> _Budget:
        spec, namespace = given.spec, given.metadata.namespace or ""
        budget = _Budget(given.metadata.full_name, namespace, selector_of(spec.selector), 0, None, 0, False)
        budget.always = spec.unhealthy_pod_eviction_policy == "AlwaysAllow"
        mine = [each for each in pods if _selects(budget, each.metadata.namespace or "", each.metadata.labels)]
        budget.healthy = sum(is_live(each) and _is_ready(each) for each in mine)
        budget.healthy += sum(_selects(budget, space, labels) for space, labels in coming)
        if spec.max_unavailable is None and isinstance(spec.min_available, int):
            budget.wanted, budget.expected = spec.min_available, len(mine)
            return budget
        scale = self._scale(mine)
        if scale is not None:
            budget.expected = scale
            budget.wanted = _wanted(spec.min_available, spec.max_unavailable, scale)
        return budget

    def _scale(self, pods: Iterable[Pod]) -> int | None:
        """Return how many pods the controllers of these are to have; None for a controller that has no such number."""
        scales: dict[tuple[str, str, str, str], int] = {}
        for pod in pods:
            owner = next((each for each in pod.metadata.owner_references if each.controller), None)
            if owner is None:
                continue  # nobody's pods are left out
            found = self._controller(owner.kind, pod.metadata.namespace or "", owner.name)
            replicas = None if found is None else value_at(found.body, "spec.replicas")
            if found is None or not (isinstance(replicas, int) or found.kind in _SCALED):
                return None
            scales[found.key] = replicas if isinstance(replicas, int) else 1
        return sum(scales.values())

    def _controller(self, kind: str, namespace: str, name: str) -> Workload | None:
        """Return the controller of a pod; of a ReplicaSet its Deployment."""
        assert self._family is not None
        found = self._family.named(kind, namespace, name)
        owners = found.metadata.owner_references if found is not None and kind == "ReplicaSet" else ()
        above = next((each for each in owners if each.controller and each.kind == "Deployment"), None)
        if above is None:
            return found
        return self._family.named("Deployment", namespace, above.name) or found


def _selects(budget: _Budget, namespace: str, labels: Mapping[str, str]) -> bool:
    return namespace == budget.namespace and budget.test.matches(labels)


def _is_ready(pod: Pod) -> bool:
    """Say whether a pod with a node is healthy: its condition says so, or there is none, as in dumps made by hand."""
    said = next((each.status for each in pod.status.conditions if each.type == "Ready"), "True")
    return bool(pod.spec.node_name) and said == "True"


def _wanted(least: int | str | None, most_gone: int | str | None, scale: int) -> int | None:
    """Return how many of so many pods have to be healthy; shares are rounded up. Spec: EVICT-1."""
    if most_gone is not None:
        gone = _share(most_gone, scale)
        return None if gone is None else max(0, scale - gone)
    return 0 if least is None else _share(least, scale)


def _share(given: int | str, scale: int) -> int | None:
    if isinstance(given, int):
        return given
    digits = given.removesuffix("%")
    return -(-scale * int(digits) // 100) if given.endswith("%") and digits.isdecimal() else None
